/**
 * Tools that a scenario lets the stand-in use, each asked about at the hooks as the CLI does. A call is
 *
 * - `name`, `args`           as the hook gets them
 * - `shown`                  parameters of its frames (default: `args`)
 * - `output`, `error`        how it ends when it may run
 * - `touch`                  a file that gets a line when it runs
 * - `hook`                   `"none"` nobody is asked, `"ignored"` the answer is not obeyed, `"twice"` asked once more,
 *                            `"first"` asked before its first frame, `"hasty"` run while the hook is still asked
 * - `until`                  a file that a hasty call waits for
 * - `silent`                 its end is not told
 * - `stepIdx`, `conversation` what the hook is told instead of the truth
 * - `input`                  what the hook is told in place of all of it
 * - `patience`               a file at whose appearance the CLI ends the hook, and denies
 * - `prompt`                 its frames are nameless, as those of the CLI's own prompts
 * - `effect`                 what it does when it runs: `"env"` print the environment, `"overwrite"` the files of the hook
 *
 * `{hooks}` in an argument is the folder of the hook's files, `{token}` the secret that it is asked with.
 */
import { appendFileSync } from 'node:fs'
import { appears } from './files.mjs'
import { askHooks, loadHooks, overwriteHooks } from './hooks.mjs'

const CONVERSATION = 'odd'
let index = 1

const frame = (step_index, state, call, info) => {
  if (call.prompt) return { step_index, state, step_type: 'unknown' }
  const tool_info = { name: call.name, parameters: call.shown ?? call.args, ...info }
  return { step_index, state, step_type: 'tool', tool_name: call.name, tool_info }
}

const failure = message => ({ error: { type: 'TOOL_ERROR', message } })

function placed(call, flags) {
  const folder = flags.get('add-dir')?.[1] ?? ''
  const token = process.env.DSH_AGY_HOOK_TOKEN ?? ''
  return JSON.parse(JSON.stringify(call).replaceAll('{hooks}', folder).replaceAll('{token}', token))
}

/** Make it happen; returns the end of its frame. */
function perform(call, flags) {
  if (call.touch !== undefined) appendFileSync(call.touch, `${call.name}\n`)
  if (call.effect === 'overwrite') overwriteHooks(flags, '{}')
  if (call.error !== undefined) return ['ERROR', failure(call.error)]
  const environment = Object.entries(process.env).map(([name, value]) => `${name}=${value}`)
  return ['DONE', { output: call.effect === 'env' ? environment.join('\n') : (call.output ?? 'done') }]
}

/**
 * @param {readonly object[]} calls made at once.
 * @param {Map<string, string[]>} flags of the command line.
 * @param {(body: object) => Promise<void>} tell writes a step of this conversation.
 * @param {{ oneByOne?: boolean }} how `oneByOne`: whether the hooks of one call are asked after those of the one before, and all calls run after that.
 */
export async function useTools(calls, flags, tell, { oneByOne = false }) {
  const hooks = loadHooks(flags)
  let before = Promise.resolve()
  const started = []
  for (const given of calls) {
    const call = placed(given, flags)
    index += 1
    const step = index
    const asked = {
      toolCall: { name: call.name, args: call.args },
      stepIdx: call.stepIdx ?? step,
      conversationId: call.conversation ?? CONVERSATION,
      workspacePaths: flags.get('add-dir') ?? [],
    }
    if (call.hook !== 'first' && !call.prompt) await tell(frame(step, 'ACTIVE', call))
    const ask = async () =>
      call.hook === 'none' ? undefined : askHooks(hooks, call.name, call.input ?? asked, call.patience)
    const asking = oneByOne ? before.then(ask) : ask()
    before = asking
    started.push({ call, step, asked, asking })
  }
  if (oneByOne) await before
  await Promise.all(
    started.map(async ({ call, step, asked, asking }) => {
      if (call.until !== undefined) await appears(call.until)
      if (call.silent) return
      const denied = call.hook === 'hasty' ? undefined : await asking
      if (call.hook === 'twice') await askHooks(hooks, call.name, asked)
      if (denied !== undefined && call.hook !== 'ignored') {
        await tell(frame(step, 'ERROR', call, failure(`tool call denied by pre-tool hook: ${denied}`)))
        return
      }
      const [state, info] = perform(call, flags)
      await tell(frame(step, state, call, info))
    }),
  )
}
