/** `dsh-agy doctor`: says what stands between this machine and a first answer. */
import { examine, lineOf } from '../agy/examination.ts'
import { scrubbedParentEnv } from '../host/parent-env.ts'
import { type Io, readCommandLine } from './command-line.ts'

const USAGE = `dsh-agy doctor [--json]

  --json   one JSON object instead of lines

Looks at the program, its version, the sign-in, the models, the hooks and the temporary folder. It asks \`agy models\` and
\`agy --print=/hooks\`, which start no model call, and nothing else. Exit codes: 0 nothing is in the way, 2 something is, 1 wrong usage.`

/**
 * Run the command.
 *
 * @param args - what follows the command's name.
 * @param io - where the findings go.
 * @param parent - the environment to look at; dsh's own for its children, if absent.
 * @returns the exit code: 0 nothing is in the way, 2 something is, 1 wrong usage.
 */
export async function doctor(
  args: readonly string[],
  io: Io,
  parent: Readonly<Record<string, string>> = scrubbedParentEnv(),
): Promise<number> {
  const line = readCommandLine(args, { usage: USAGE, switches: ['json'] }, io)
  if (typeof line === 'number') return line
  const findings = await examine({ parent, cwd: process.cwd() })
  const failed = findings.some(({ verdict }) => verdict === 'failure')
  if (line.given.has('json')) {
    io.out(JSON.stringify({ ok: !failed, findings }))
  } else {
    for (const finding of findings) io.out(lineOf(finding))
  }
  return failed ? 2 : 0
}
