import t from 'tap'
import { safeReturnTo } from '../../../shared/enforcement/return-to.ts'
import { LIMITS } from '../../../shared/limits.ts'

/** What a browser on the tenant's host makes of the Location that we send. */
function landingHost(value: string): string {
  return new URL(safeReturnTo(value), 'https://app.example').host
}

t.test('returnTo never leaves the host', async (t) => {
  const attacks = [
    '//evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    '\\/evil.test',
    '/%09/evil.test',
    '/\t/evil.test',
    '/\n/evil.test',
    '///evil.test',
    '/..//evil.test',
    '/.//evil.test',
    '/a/..//evil.test',
    '/%2e%2e//evil.test',
    '/%2f/evil.test',
    '/%5cevil.test',
    'https://evil.test/',
    'http:evil.test',
    'javascript:alert(1)',
    'data:text/html,x',
    '@evil.test',
    ' //evil.test',
    '/\u2028/evil.test',
    '/\0/evil.test',
    'evil.test',
    '',
  ]
  for (const attack of attacks) {
    t.equal(landingHost(attack), 'app.example', encodeURIComponent(attack))
    t.equal(safeReturnTo(attack), '/', encodeURIComponent(attack))
  }
})

t.test('an ordinary path with its query comes back as it was', async (t) => {
  for (const value of [
    '/',
    '/a/b?c=d&e=%2F%2F',
    '/a%20b',
    '/a?next=//x',
    '/.well-known/x',
    '/a.b#c',
  ])
    t.equal(safeReturnTo(value), value)
})

t.test('returnTo does not lead back into the sign-in paths, nor past the limit', async (t) => {
  t.equal(safeReturnTo('/service/logout'), '/')
  t.equal(safeReturnTo('/service/me'), '/service/me')
  for (const near of [
    '/service/me/',
    '/service/me%2f..',
    '/service/mee',
    '/service/login?/service/me',
  ])
    t.equal(safeReturnTo(near), '/', near)
  t.equal(safeReturnTo(undefined), '/')
  t.equal(
    safeReturnTo(`/${'a'.repeat(LIMITS.returnToBytesMax - 1)}`).length,
    LIMITS.returnToBytesMax,
  )
  t.equal(safeReturnTo(`/${'a'.repeat(LIMITS.returnToBytesMax)}`), '/')
})
