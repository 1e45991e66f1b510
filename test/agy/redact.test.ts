import { expect, test } from 'vitest'
import { redact, secretsIn, without } from '../../src/agy/redact.ts'
import { proxies } from '../../src/agy/surroundings.ts'

test.each([
  [
    'a token in the place of a name',
    { PIP_INDEX_URL: 'https://0oTokenOfAFeed55:x-oauth-basic@feed.example.org/simple' },
    '0oTokenOfAFeed55',
  ],
  ['a token alone', { INDEX: 'https://0oTokenOfAFeed55@feed.example.org/simple' }, '0oTokenOfAFeed55'],
  ['a password', { HTTPS_PROXY: 'http://jane:pa55w0rd@proxy:3128' }, 'pa55w0rd'],
  ['a password that holds an @', { HTTPS_PROXY: 'http://jane:pa55@w0rdlong@proxy:3128' }, 'pa55@w0rdlong'],
  ['a password that holds a slash', { https_proxy: 'http://jane:2024/xY77@proxy:3128' }, '2024/xY77'],
])('%s in an address is known as a secret', (_what, env, secret) => {
  expect(without(`refused for ${secret}`, secretsIn(env))).toBe('refused for <credential>')
})

test('what is no secret in an address is none', () => {
  expect(
    secretsIn({ HTTP_PROXY: 'http://jane:pa55w0rd@proxy:3128', NPM: 'https://registry.npmjs.org/@scope/x' }),
  ).toEqual(['pa55w0rd'])
})

test.each(['http://jane:2024/xY77@proxy.corp:3128', 'jane:2024/xY77@proxy.corp:3128'])(
  'a proxy is told without what opens it: %s',
  value => {
    expect(proxies({ HTTPS_PROXY: value }).words).toContain(
      'http://proxy.corp:3128 (with credentials, which are not shown)',
    )
  },
)

// A pattern whose work grows with the square of the text would take an hour for one of them.
test.each(['-eyJaaaaaaaa', 'abcdefghij', 'a%40', 'a@1.', '1.', 'a://', 'Bearer ', 'token='])(
  'a megabyte of %j is gone through',
  piece => {
    const text = piece.repeat(Math.ceil(2 ** 20 / piece.length))
    expect(redact(text, '/home/x').length).toBeGreaterThan(0)
  },
)
