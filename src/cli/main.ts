#!/usr/bin/env node
/**
 * The `dsh-agy` command: hands over to a subcommand of the table and ends with its exit code. What is asked for goes to
 * stdout; a missing or unknown command ends with 1 and the list of commands.
 */
import type { Io } from './command-line.ts'
import { packageManifest } from './package-manifest.ts'

interface Command {
  readonly about: string
  run(args: readonly string[], io: Io): Promise<number>
}

/** Each is loaded when it is asked for: some bring much along that the others do not need. */
const COMMANDS: Readonly<Record<string, Command>> = {
  doctor: {
    about: 'say what stands between this machine and a first answer',
    run: async (...given) => (await import('./doctor.ts')).doctor(...given),
  },
  probes: {
    about: 'play recordings and say what is new in them, such as after an update of the CLI',
    run: async (...given) => (await import('./probes.ts')).probes(...given),
  },
  record: {
    about: 'run the CLI once and keep the run as a recording without secrets',
    run: async (...given) => (await import('./record.ts')).record(...given),
  },
  replay: {
    about: 'run a recording of the CLI through the engine',
    run: async (...given) => (await import('./replay.ts')).replay(...given),
  },
  validate: {
    about: 'check session logs against the rules of dsh',
    run: async (...given) => (await import('./validate.ts')).validate(...given),
  },
}

const HELP = `dsh-agy <command> [options]

${Object.entries(COMMANDS)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join('\n')}

  dsh-agy <command> --help tells more; dsh-agy --version tells the version.`

const io: Io = {
  out: line => void process.stdout.write(`${line}\n`),
  err: line => void process.stderr.write(`${line}\n`),
}

// Who reads may leave early, as `head` does; the work goes on to its exit code.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined) {
    io.err(HELP)
    return 1
  }
  if (name === '--help' || name === '-h') {
    io.out(HELP)
    return 0
  }
  if (name === '--version') {
    io.out(packageManifest().version)
    return 0
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) {
    io.err(`There is no command "${name}".\n\n${HELP}`)
    return 1
  }
  try {
    return await command.run(args, io)
  } catch (error) {
    const missing = missingPartOfDsh(error)
    if (missing === undefined) throw error
    io.err(
      `DSH_UNLINKED: ${missing} is not to be found. dsh links its packages beside its profiles when it starts: run \`dsh --profile web --dump-config\` once, then this command again.`,
    )
    return 1
  }
}

/** The packages of dsh come from its installation, and are not there until dsh has started once. */
function missingPartOfDsh(error: unknown): string | undefined {
  const { code, message = '' } = error as NodeJS.ErrnoException
  return code === 'ERR_MODULE_NOT_FOUND' ? /'(@deepseek-ai\/[\w-]+)'/.exec(message)?.[1] : undefined
}

process.exitCode = await main(process.argv.slice(2))
