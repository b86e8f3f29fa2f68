import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { clearedVariants, othersCleared } from '../../../shared/sign-in/stray-sessions.ts'

const PATH = '/acme/shop/blob/main/src/a/b/c/index'

const senderOf = (hops: number, edgeUrl = 'https://app.example.com') => ({
  edgeUrl,
  cookies: `__Host-service_hops=${hops}; service_session=a; service_session=b`,
  isCookieSecure: true,
})

t.test('a session of a sibling host ends wherever above the page it was set', async (t) => {
  const answers = Array.from({ length: LIMITS.signInHopsMax }, (_, hops) =>
    clearedVariants(senderOf(hops), PATH),
  )
  for (const answer of answers) {
    t.ok(answer.length <= LIMITS.strayCookiesMax)
    t.ok(answer.join('').length <= LIMITS.strayCookieBytesMax)
  }
  const segments = PATH.split('/').slice(1)
  const paths = segments.flatMap((_, index) => {
    const path = `/${segments.slice(0, index + 1).join('/')}`
    return path === PATH ? [path] : [path, `${path}/`]
  })
  const ended = new Set(answers.flat())
  for (const path of ['/', ...paths])
    for (const domain of ['', '; Domain=app.example.com', '; Domain=example.com'])
      for (const end of ['; Secure', '; Secure; Partitioned'])
        t.ok(ended.has(`service_session=; Path=${path}; Max-Age=0${domain}${end}`), path + domain)
  const deepest = 'service_session=; Path=/acme/shop/blob/main/src/a/b/c/index; Max-Age=0; Domain='
  t.ok(answers[0]?.includes(`${deepest}example.com; Secure; Partitioned`), 'the deepest at once')
})

t.test('long paths fit into an answer, and what no browser takes is left out', async (t) => {
  t.equal(LIMITS.cookiePathBytesMax, 1024)
  const lines = clearedVariants(senderOf(0), `/${'a'.repeat(900)}/${'b'.repeat(900)}`)
  t.ok(lines.join('').length <= LIMITS.strayCookieBytesMax)
  t.notMatch(lines.join(), /bbb/)
  t.match(lines[0], /Path=\/a{900}\/; /)
  const many = clearedVariants(senderOf(0), '/a'.repeat(4000))
  t.ok(many.length > 0 && many.length <= LIMITS.strayCookiesMax)
})

t.test('the session that is about to be set is not ended with the others', async (t) => {
  for (const host of ['app.example.com', 'a.b.c.d.e.f.example.com'])
    for (let hops = 0; hops < LIMITS.signInHopsMax; hops++) {
      const lines = othersCleared(senderOf(hops, `https://${host}`))
      t.notOk(lines.includes('service_session=; Path=/; Max-Age=0; Secure'))
      t.ok(lines.length > 0)
    }
})
