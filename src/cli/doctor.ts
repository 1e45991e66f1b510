/** `dsh-agy doctor`: says what stands between this machine and a first answer. What it prints can be shown to anybody. */
import { homedir } from 'node:os'
import { examine, shown } from '../agy/examination.ts'
import { type Finding, lineOf } from '../agy/finding.ts'
import { EngineSchema } from '../config.ts'
import { scrubbedParentEnv } from '../host/parent-env.ts'
import { type CommandLine, type Io, readCommandLine, tellRefusals } from './command-line.ts'
import { dshHomeOf, dshProgram, profileFindings } from './dsh-findings.ts'
import { currentFolder, realOf } from './paths.ts'
import { permissionFindings } from './permission-findings.ts'
import { Progress } from './progress.ts'

const USAGE = `dsh-agy doctor [--profile <name>] [--usage] [--json]

  --profile   the profile of dsh to look at, below $DSH_HOME; web if it is left out
  --usage     ask the CLI for its quota too (\`/usage\`): free of charge, as others say of 1.1.18 to 1.2.14, and not proven here
  --json      one JSON object instead of lines

Looks at dsh, the profile and its rows, the program as the profile configures it, its version, the sign-in, the models, the
hooks, what the permissions become in this folder, the proxy settings, children left behind, and the temporary folder. It
asks \`dsh --version\`, \`agy --version\`, \`agy models\` and \`agy --print=/hooks\`, which start no model call, and changes
nothing. No secret, mail address or home folder is printed.

Exit codes: 0 nothing is in the way, 2 something is, 1 wrong usage.`

/** What a test may want to have otherwise. */
export interface DoctorSurroundings {
  /** The environment to look at; dsh's own for its children, if absent. */
  readonly parent?: Readonly<Record<string, string>>
  /** `$DSH_HOME` as it is set. */
  readonly dshHome?: string | undefined
  readonly cwd?: string
}

/**
 * Run the command.
 *
 * @param args - what follows the command's name.
 * @param io - where the findings go.
 * @returns the exit code: 0 nothing is in the way, 2 something is, 1 wrong usage.
 */
export async function doctor(
  args: readonly string[],
  io: Io,
  { parent = scrubbedParentEnv(), dshHome = process.env.DSH_HOME, ...given }: DoctorSurroundings = {},
): Promise<number> {
  const line = readCommandLine(args, { usage: USAGE, switches: ['json', 'usage'], values: ['profile'] }, io)
  if (typeof line === 'number') return line
  return tellRefusals(io, () => lookAtAll(line, io, { parent, dshHome, cwd: given.cwd ?? currentFolder() }))
}

type Line = CommandLine<'json' | 'usage', 'profile'>

async function lookAtAll(line: Line, io: Io, { parent, dshHome, cwd }: Required<DoctorSurroundings>): Promise<number> {
  const progress = new Progress(io)
  try {
    progress.at('asking dsh for its version')
    const dsh = await dshProgram(parent)
    const home = dshHomeOf(dshHome, parent)
    const profile = profileFindings(home, line.values.profile ?? 'web')
    const config = profile.config ?? EngineSchema()
    const { bin, model, env: extra } = config
    const agy = await examine({
      parent,
      extra,
      cwd,
      usage: line.given.has('usage'),
      onLook: work => progress.at(work),
      ...(bin !== undefined && { bin }),
      ...(model !== undefined && { model }),
    })
    const mode = profile.sandboxMode ?? process.env.DSH_PERMISSION_MODE ?? 'workspace-write'
    const table = await permissionFindings(config, cwd, mode)
    const findings = [dsh, ...profile.findings, ...agy, ...table].map(finding => anonymous(finding, parent, home))
    tell(findings, io, line.given.has('json'))
    return findings.some(isFailure) ? 2 : 0
  } finally {
    progress.done()
  }
}

/** Without folders that tell whose they are, under whichever name. */
function anonymous(
  finding: Finding,
  { HOME, USERPROFILE }: Readonly<Record<string, string>>,
  dshHome: string,
): Finding {
  const homes = [HOME, USERPROFILE, homedir()].filter(folder => folder !== undefined)
  const withoutDsh = { ...finding, words: finding.words.replaceAll(dshHome, '$DSH_HOME') }
  const { words, ...rest } = homes.flatMap(folder => [folder, realOf(folder)]).reduce(shown, withoutDsh)
  return { ...rest, words: words.replace(SOMEBODY, '<user>') }
}

/** Of a home that is not known as one, such as that of the user before `sudo`. */
const SOMEBODY = /(?<=\/(?:home|Users)\/)[^\s/"']+/g

const isFailure = ({ verdict }: Finding): boolean => verdict === 'failure'

function tell(findings: readonly Finding[], io: Io, asJson: boolean): void {
  const ok = !findings.some(isFailure)
  if (asJson) io.out(JSON.stringify({ ok, findings }))
  else for (const finding of findings) io.out(lineOf(finding))
}
