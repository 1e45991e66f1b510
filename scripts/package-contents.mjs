/** What the package holds, and nothing else. */
const NEEDED = [
  'package.json',
  'README.md',
  'README.zh.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'LICENSE',
  'cordis.patch.yml',
]
const ALLOWED = [/^docs\/[\w.-]+\.md$/, /^presets\/[\w-]+\/[\w.-]+\.yml$/, /^lib\/.+(?:\.js|\.d\.ts)$/]

const built = source => [`lib/${source.replace(/\.ts$/, '.js')}`, `lib/${source.replace(/\.ts$/, '.d.ts')}`]

/**
 * @param {readonly string[]} names of the files in the package.
 * @param {readonly string[]} sources of what was built, as paths inside `src`.
 * @returns {string[]} what is wrong, one sentence each.
 */
export function packageProblems(names, sources) {
  const needed = [...NEEDED, ...sources.flatMap(built)]
  return [
    ...needed.filter(name => !names.includes(name)).map(name => `${name} is missing`),
    ...names
      .filter(name => !needed.includes(name) && !ALLOWED.some(pattern => pattern.test(name)))
      .map(name => `${name} must not be in the package`),
    ...names
      .filter(name => name.startsWith('lib/') && ALLOWED.some(pattern => pattern.test(name)) && !needed.includes(name))
      .map(name => `${name} has no source`),
  ]
}
