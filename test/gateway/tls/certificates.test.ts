/** Certificates from a snapshot, and what a host with one does in the clear. */
import t from 'tap'
import { checkSnapshot, createTenantCompiler } from '../../../gateway/tenants/compiled.ts'
import { keepCertificates } from '../../../gateway/tls/certificates.ts'
import type { Upstream } from '../../../gateway/wire/upstream-call.ts'
import { HOST, startEdge } from '../../support/edge-world.ts'
import { snapshotOf } from '../../support/fleet-source.ts'
import { createTestAuthority } from '../../support/test-certificates.ts'
import { newSigningKey } from '../../support/tokens.ts'
import { startOrigin, talk } from '../../support/wire.ts'

t.test('a snapshot whose certificate cannot be loaded is refused by name', (t) => {
  const authority = createTestAuthority(t)
  const [good, other] = [authority.issue('a.test'), authority.issue('a.test')]
  const check = (certificate: typeof good) =>
    checkSnapshot(snapshotOf('app', { certificates: [certificate] }))
  check(good)
  const refused = { message: /certificate of a\.test cannot be loaded/ }
  t.throws(() => check({ ...good, private_key_pem: other.private_key_pem }), refused)
  t.throws(() => check({ ...good, certificate_pem: 'no certificate' }), refused)
  t.throws(() => check({ ...good, private_key_pem: 'no key' }), refused)
  t.throws(() => check({ ...good, certificate_pem: good.certificate_pem.slice(0, 200) }), refused)
  try {
    check({ ...good, certificate_pem: 'no certificate' })
  } catch (error) {
    t.notMatch(String(error), /PRIVATE/)
  }
  t.end()
})

t.test('what has not changed stays loaded over new snapshots', (t) => {
  const authority = createTestAuthority(t)
  const [a, b, newer] = [
    authority.issue('a.test'),
    authority.issue('b.test'),
    authority.issue('b.test'),
  ]
  const before = keepCertificates([a, b], undefined)
  const context = before.get('a.test')?.context
  const after = keepCertificates([a, newer], before)
  t.equal(after.get('a.test')?.context, context)
  t.not(after.get('b.test'), before.get('b.test'))
  t.equal(keepCertificates([], after).size, 0)

  const upstream = { close: () => Promise.resolve() } as unknown as Upstream
  const compiler = createTenantCompiler({ openUpstream: () => upstream })
  const first = compiler.compile(snapshotOf('app', { certificates: [a], revision: 1 }))
  const second = compiler.compile(
    snapshotOf('app', { certificates: [a], revision: 2, origin: 'http://127.0.0.1:9' }),
  )
  compiler.retire(first)
  const third = compiler.compile(snapshotOf('app', { certificates: [a], revision: 3 }))
  t.equal(first.certificates.get('a.test'), second.certificates.get('a.test'))
  t.equal(second.certificates.get('a.test'), third.certificates.get('a.test'))
  t.end()
})

t.test('a host with a certificate is moved to TLS, with its target and its method', async (t) => {
  const origin = await startOrigin(t)
  const authority = createTestAuthority(t)
  const edge = await startEdge(t, origin.url, {
    edge_urls: { [HOST]: `https://${HOST}:8443`, 'plain.test': 'http://plain.test' },
    certificates: [authority.issue(HOST)],
  })
  for (const [method, target] of [
    ['GET', '/a/b?c=d&e'],
    ['POST', '/form'],
    ['GET', '/admin'],
    ['GET', '/health'],
    ['GET', '/service/login?returnTo=/'],
    ['GET', '//evil.test/'],
  ] as const) {
    const lines = `Host: ${HOST}\r\n${method === 'POST' ? 'Content-Length: 2\r\n' : ''}\r\n`
    const body = method === 'POST' ? 'ab' : ''
    const [answer] = await talk(t, edge.port, `${method} ${target} HTTP/1.1\r\n${lines}${body}`)
    t.match(answer?.head, /^HTTP\/1\.1 308 /, `${method} ${target}`)
    t.match(answer?.head, `\r\nLocation: https://${HOST}:8443${target}\r\n`)
    t.match(answer?.head, /x-request-id: /i)
    t.notMatch(answer?.head, /strict-transport/i, 'said over TLS only (RFC 6797 section 7.2)')
  }
  const [plain] = await talk(t, edge.port, 'GET /health HTTP/1.1\r\nHost: plain.test\r\n\r\n')
  t.match(plain?.head, /^HTTP\/1\.1 200 /, 'a host without a certificate is served')
  edge.put({ certificates: [] })
  const [without] = await talk(t, edge.port, `GET /health HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
  t.match(without?.head, /^HTTP\/1\.1 200 /, 'and so is one that has lost it')
})

t.test('a snapshot whose public key is too short is refused by name', (t) => {
  const { n = '' } = newSigningKey('k1').publicKey.export({ format: 'jwk' })
  const check = (modulus: string) => {
    const key = { kid: 'k1', kty: 'RSA', alg: 'RS256', use: 'sig', n: modulus, e: 'AQAB' } as const
    checkSnapshot(snapshotOf('app', { keys: [key] }))
  }
  check(n)
  t.throws(() => check(n.slice(0, 172)), { message: /key k1 has 10\d\d bits, 2048 needed/ })
  t.end()
})
