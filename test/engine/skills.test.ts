import { memfs } from 'memfs'
import { describe, expect, test, vi } from 'vitest'
import { invokedSkill } from '../../src/engine/skills.ts'
import type { TranscriptItem } from '../../src/engine/transcript-entry.ts'

const said = (text: string, kind = 'user'): TranscriptItem => ({
  message: { role: 'user', source: { kind }, content: [{ type: 'text', text }] },
  interrupted: false,
})

const { fs } = memfs({
  '/ws/.dsh/skills/review/SKILL.md': 'from the project',
  '/ws/.agents/skills/review/SKILL.md': 'shadowed',
  '/ws/.agents/skills/release-notes.md': 'a flat one',
  '/dsh/skills/deploy/SKILL.md': "the user's own",
})
const read = async (path: string) => String(await fs.promises.readFile(path, 'utf8'))
const find = (...items: TranscriptItem[]) => {
  vi.stubEnv('DSH_HOME', '/dsh')
  return invokedSkill(items, '/ws', read).finally(() => vi.unstubAllEnvs())
}

describe('the skill of a request', () => {
  test.each([
    ['/review the code', { name: 'review', folder: '/ws/.dsh/skills/review', content: 'from the project' }],
    ['/release-notes', { name: 'release-notes', folder: '/ws/.agents/skills', content: 'a flat one' }],
    ['/deploy\nnow', { name: 'deploy', folder: '/dsh/skills/deploy', content: "the user's own" }],
  ])('%j is found', async (text, skill) => {
    expect(await find(said('before'), said(text))).toEqual(skill)
  })

  test.each(['/unknown', 'see /review', '/Review', '/review/../deploy', '/', '/../../etc/passwd', ''])(
    '%j names none',
    async text => {
      expect(await find(said(text))).toBeUndefined()
    },
  )

  test('is not looked for where the host has brought it, nor for an earlier request', async () => {
    expect(await find(said('/review'), said('<skill_content>', 'skill-invocation'))).toBeUndefined()
    expect(await find(said('/review'), said('and now?'))).toBeUndefined()
  })
})
