/**
 * Loaded into the real dsh before anything else (`node --import`): makes of it a host that the engine does not know, by
 * changing the text of its packages while they are loaded. What is changed is named in DSH_ALTERED.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Which package, and what in its text becomes what. */
const TEXTS = {
  'a session format that nobody knows': [
    'dsh-session',
    /\bSESSION_FORMAT_VERSION = 0\b/g,
    'SESSION_FORMAT_VERSION = 7',
  ],
  'a turn machine that is built differently': ['dsh-agent-loop', /\brequestHeaderLogged\b/g, 'requestHeaderNoted'],
}

const altered = process.env.DSH_ALTERED
const [name, from, to] = TEXTS[altered] ?? []

registerHooks({
  resolve(specifier, context, next) {
    if (
      altered === 'a package that is gone' &&
      specifier === '@deepseek-ai/dsh-subprocess' &&
      context.parentURL?.includes('/dsh-loop-engine-agy/')
    ) {
      throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' })
    }
    return next(specifier, context)
  },
  load(url, context, next) {
    if (name === undefined || !url.includes(`/${name}/lib/`) || !url.endsWith('.js')) return next(url, context)
    const source = readFileSync(fileURLToPath(url), 'utf8').replaceAll(from, to)
    return { format: 'module', source, shortCircuit: true }
  },
})
