/**
 * The quick checks that come before the tests: what each finds out, the program, and its arguments. Each is shown to
 * refuse something by the test that is named beside it.
 *
 * @param {string} tarball path of the packed package.
 * @returns {readonly (readonly [string, string, readonly string[]])[]}
 */
export const checksOf = tarball => [
  ['formatting and lint', 'biome', ['ci', '.']],
  ['types', 'tsc', ['-p', 'tsconfig.json']],
  ['imports between the rooms', 'depcruise', ['--config', '.dependency-cruiser.mjs', 'src']],
  ['dead code and dependencies', 'knip', ['--no-progress', '--tsConfig', 'tsconfig.build.json']],
  ['code that stands twice', 'jscpd', []],
  ['package manifest', 'publint', ['--strict', tarball]],
  [
    'types of the packed package',
    'attw',
    [tarball, '--profile', 'esm-only', '--exclude-entrypoints', 'cordis.patch.yml'],
  ],
]
