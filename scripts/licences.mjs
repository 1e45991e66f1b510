/** Licences that a package may have which is installed together with this one: each asks for no more than to be named. */
const ALLOWED = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
])

/** One allowed part of a choice is enough; what is no plain list of choices is not understood, so not allowed. */
const isAllowed = licence =>
  licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some(choice => ALLOWED.has(choice))

/**
 * @param {Readonly<Record<string, readonly { name: string }[]>>} listed packages by licence, as `pnpm licenses list --json`
 *   prints them.
 * @returns {string[]} `package: licence` of each that is not allowed.
 */
export const forbiddenLicences = listed =>
  Object.entries(listed)
    .filter(([licence]) => !isAllowed(licence))
    .flatMap(([licence, packages]) => packages.map(({ name }) => `${name}: ${licence}`))
