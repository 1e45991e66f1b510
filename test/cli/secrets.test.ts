/** What has the shape of a secret is found, and what recordings hold is not. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findSecrets } from '../../src/cli/secrets.ts'
import { probeFolder, probeNames } from '../support/probes.ts'

const letters = 'Qx7Rk2Vb9Tn4Wm8Zp3Ls6Yd1Hc5Gf0Jv'

describe('found', () => {
  test.each([
    ['google api key', `AIzaSy${letters}`],
    ['google oauth token', 'ya29.a0AfH6SMBxyz_0123'],
    ['google refresh token', `"1//0g${letters}"`],
    ['google client secret', `GOCSPX-${letters}`],
    ['google sign-in code', `code=4/0A${letters}`],
    ['json web token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN'],
    ['bearer token', 'Authorization: Bearer abcdef0123456789abcdef'],
    ['private key', '-----BEGIN OPENSSH PRIVATE KEY-----'],
    ['aws access key', 'AKIAIOSFODNN7QWERTYU'],
    ['api key', `sk-proj-${letters}`],
    ['password in an address', 'http://jane:s3cret@proxy.example.org:3128'],
    ['secret with its name', 'API_KEY="0123456789abcdef"'],
    ['github token', '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'],
    ['slack token', 'xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx'],
    ['long random text', `${letters}aB3`],
    ['long random text', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ9vT4mN1kL8+sG2hJ5='],
  ])('a %s', async (kind, text) => {
    const found = await findSecrets([
      { where: 'here', text: 'nothing of the kind' },
      { where: 'there', text: `see ${text} there` },
    ])
    expect(found.map(one => one.kind.toLowerCase())).toContain(kind)
    expect(new Set(found.map(({ where }) => where))).toEqual(new Set(['there']))
    expect(JSON.stringify(found)).not.toContain(text)
  })
})

test.each(probeNames)('%s holds nothing of the kind', async name => {
  const lines = readFileSync(join(probeFolder(name), 'frames.ndjson'), 'utf8').split('\n')
  expect(await findSecrets(lines.map((text, at) => ({ where: `line ${at + 1}`, text })))).toEqual([])
})

// A pattern whose work grows with the square of the text would take an hour for one of them.
test.each(['abcdefghij', '-eyJaaaaaaaa', 'token=', 'a://', 'sk-', '1//'])(
  'a megabyte of %j is looked through',
  async piece => {
    const text = piece.repeat(Math.ceil(2 ** 20 / piece.length))
    expect(await findSecrets([{ where: 'here', text }])).toBeInstanceOf(Array)
  },
)
