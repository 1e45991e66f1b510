/** Which room of the house may import which. */
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

export default {
  forbidden: [
    rule('no-circular', 'Data goes round once, imports not at all.', {}, { circular: true }),
    rule(
      'agy-knows-no-dsh',
      'The CLI room knows the engine contract and nothing of dsh.',
      { path: '^src/agy/' },
      { path: '^src/|node_modules/@deepseek-ai/', pathNot: '^src/(agy/|engine/contract\\.ts$)' },
    ),
    rule(
      'engine-knows-no-agy',
      'The engine room stands on host/ alone and never learns which CLI is behind the events.',
      { path: '^src/engine/' },
      { path: '^src/|node_modules/(@deepseek-ai|execa|ndjson)/', pathNot: '^src/(engine|host)/' },
    ),
    rule(
      'router-knows-no-agy',
      'The router knows engines by their contract.',
      { path: '^src/router/' },
      { path: '^src/', pathNot: '^src/(router|engine|host)/' },
    ),
    rule(
      'router-takes-only-types-of-dsh',
      'Values of dsh come through host/.',
      { path: '^src/router/' },
      { path: 'node_modules/@deepseek-ai/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'host-holds-no-policy',
      'host/ is the surface of dsh.',
      { path: '^src/host/' },
      { path: '^src/', pathNot: '^src/host/' },
    ),
    rule(
      'one-file-spawns',
      'Children are spawned in one file.',
      { path: '^src/', pathNot: '^src/agy/process\\.ts$' },
      { path: '^(execa|node:child_process|child_process)$|node_modules/execa/' },
    ),
    rule(
      'plugin-needs-no-cli',
      'The command is not part of the plugin.',
      { path: '^src/', pathNot: '^src/cli/' },
      { path: '^src/cli/' },
    ),
    rule(
      'src-stands-alone',
      'Nothing in src needs what is not published.',
      { path: '^src/' },
      { path: '^(test|probes|scripts|bench)/' },
    ),
    rule('resolvable', 'Every import leads somewhere.', {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
}
