import t from 'tap'
import { isOwnOrigin, originsOf, writtenOrigin } from '../../../shared/enforcement/own-origin.ts'
import { isLogoutMeant } from '../../../shared/sign-in/logout-intent.ts'

const EDGE = { own: originsOf(['https://app.example:8443']), authority: 'other.example' }
const isOwn = (...origins: string[]) => isOwnOrigin({ ...EDGE, origins, protocol: 'https' })

t.test('an origin is our own in the spelling of browsers', async (t) => {
  t.ok(isOwn(), 'programs send none')
  t.ok(isOwn('https://app.example:8443'))
  t.ok(isOwn('HTTPS://APP.example:8443'))
  t.ok(isOwn('https://other.example:443'), 'the very address that was asked')
  for (const foreign of ['https://app.example', 'http://app.example:8443', 'null', ''])
    t.notOk(isOwn(foreign), foreign)
  t.notOk(isOwn('https://app.example:8443', 'https://app.example:8443'), 'twice')
})

// To find out which host `%E4%B8%80…` names takes the square of its length: a Referer of 16 KB, which
// nobody has to be signed in to send, kept everybody waiting for 12 ms, and 4 KB of it could be repeated
// over HTTP/2 by a byte.
t.test('and no other spelling is read', async (t) => {
  const escaped = `https://${[...'app.example'].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')}:8443`
  t.equal(new URL(escaped).origin, 'https://app.example:8443')
  t.notOk(isOwn(escaped))
  t.notOk(isOwn('https://ａpp.example:8443'))
  t.notOk(isOwn(`https://${'a'.repeat(20_000)}`))
  t.equal(writtenOrigin(`${escaped}/`), 'null')
  t.equal(writtenOrigin(`https://${'a'.repeat(20_000)}/`), 'null')
})

t.test('whose page a link was on is told by the beginning of its address', async (t) => {
  t.equal(writtenOrigin('https://App.example:8443/a?b'), 'https://App.example:8443')
  t.equal(writtenOrigin('http://[::1]'), 'http://[::1]')
  for (const foreign of [
    'https://app.example:8443@evil.test/',
    'https://app.example\\',
    'about:blank',
  ])
    t.equal(writtenOrigin(foreign), 'null', foreign)

  const head = { method: 'GET', accept: 'text/html', secFetchSite: '', secFetchMode: '' }
  const isMeant = (referer: string) =>
    isLogoutMeant({
      head: { ...head, requestedWith: '', isUpgrade: false },
      header: (name: string) => (name === 'referer' ? [referer] : []),
      isOwnPage: (origins: readonly string[]) => isOwn(...origins),
    } as never)
  t.ok(isMeant('https://app.example:8443/page?x'))
  t.notOk(isMeant('https://evil.test/https://app.example:8443/'))
  t.notOk(isMeant(`https://${'%61'}pp.example:8443/`), 'asked first')
})
