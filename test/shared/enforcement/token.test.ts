import { generateKeyPairSync, sign } from 'node:crypto'
import t from 'tap'
import { judgeTimes, proveToken, type TokenTrust } from '../../../shared/enforcement/token.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { encode, newSigningKey, signHs256, signRaw, signRs256 } from '../../support/tokens.ts'

const NOW = 1_800_000_000
const current = newSigningKey('current')
const next = newSigningKey('next')
const foreign = newSigningKey('current')
const trust: TokenTrust = {
  issuer: 'http://localhost:8080/auth/realms/acme',
  audience: 'acme-user',
  keys: new Map([current, next].map(({ kid, publicKey }) => [kid, publicKey])),
}
const header = { alg: 'RS256', kid: 'current', typ: 'JWT' }
const claims = {
  iss: trust.issuer,
  aud: trust.audience,
  sub: 'user-1',
  sid: 'session-1',
  iat: NOW - 10,
  exp: NOW + 600,
}
const signed = (h: unknown = header, p: unknown = claims) => signRs256(current, h, p)
const good = signed()

t.test('a token of ours is taken, by every key that is published', async (t) => {
  t.match(proveToken(good, trust), { sub: 'user-1', sid: 'session-1' })
  t.match(proveToken(signRs256(next, { ...header, kid: 'next' }, claims), trust), { sub: 'user-1' })
  t.match(proveToken(signed({ alg: 'RS256', kid: 'current' }), trust), { sub: 'user-1' })
  t.match(proveToken(signed(header, { ...claims, aud: ['acme-user'] }), trust), { sub: 'user-1' })
})

t.test('no algorithm but RS256, in no spelling', async (t) => {
  for (const alg of [
    'none',
    'None',
    'NONE',
    'none ',
    'rs256',
    'RS384',
    'ES256',
    'EdDSA',
    'HS256',
    ['RS256'],
    null,
    1,
    undefined,
  ])
    t.equal(proveToken(signed({ ...header, alg }), trust), 'algorithm_refused', String(alg))
  t.equal(
    proveToken(`${encode({ ...header, alg: 'none' })}.${encode(claims)}.`, trust),
    'token_malformed',
  )
})

t.test('the public key is no HMAC secret', async (t) => {
  const pem = current.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const der = current.publicKey.export({ type: 'spki', format: 'der' })
  const secrets = [pem, pem.trim(), pem.replaceAll('\n', '\r\n'), der, '']
  for (const secret of secrets) {
    t.equal(
      proveToken(signHs256(secret, { ...header, alg: 'HS256' }, claims), trust),
      'algorithm_refused',
    )
    t.equal(proveToken(signHs256(secret, header, claims), trust), 'signature_wrong')
  }
})

t.test('headers that bring or change a key are refused', async (t) => {
  const jwk = foreign.publicKey.export({ format: 'jwk' })
  for (const extra of [
    { jwk },
    { jku: 'https://evil.test/keys' },
    { x5u: 'https://evil.test/cert' },
    { x5c: ['MII'] },
    { crit: [] },
    { crit: ['exp'] },
    { zip: 'DEF' },
    { b64: false },
    { enc: 'A256GCM' },
  ])
    t.equal(
      proveToken(signed({ ...header, ...extra }), trust),
      'header_refused',
      JSON.stringify(extra),
    )
  for (const typ of ['at+jwt', 'logout+jwt', 'service-probe+jwt', 'jwt', '', null, 1])
    t.equal(proveToken(signed({ ...header, typ }), trust), 'header_refused', String(typ))
})

t.test('a kid is looked up, never followed', async (t) => {
  for (const kid of [
    '__proto__',
    'constructor',
    'toString',
    '../../dev/null',
    '',
    1,
    null,
    undefined,
  ])
    t.equal(proveToken(signed({ ...header, kid }), trust), 'key_unknown', String(kid))
})

t.test('a signature is right to the bit', async (t) => {
  const [head, body, signature = ''] = good.split('.')
  for (let index = 0; index < 32; index++) {
    const bytes = Buffer.from(signature, 'base64url')
    bytes[index * 8] = (bytes[index * 8] ?? 0) ^ 1
    t.equal(proveToken(`${head}.${body}.${bytes.toString('base64url')}`, trust), 'signature_wrong')
  }
  const one = Buffer.alloc(256)
  one[255] = 1
  for (const bytes of [one, Buffer.alloc(64), Buffer.from(signature, 'base64url').subarray(1)])
    t.equal(proveToken(`${head}.${body}.${bytes.toString('base64url')}`, trust), 'signature_wrong')
  t.equal(
    proveToken(signRs256(foreign, header, claims), trust),
    'signature_wrong',
    'a foreign key of the same kid',
  )
  t.equal(
    proveToken(signRaw(current, `${encode(header)}.${encode(claims)}`, 'sha384'), trust),
    'signature_wrong',
  )
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const input = `${encode(header)}.${encode(claims)}`
  const es = sign('sha256', Buffer.from(input), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' })
  t.equal(proveToken(`${input}.${es.toString('base64url')}`, trust), 'signature_wrong')
})

t.test('a token has one spelling', async (t) => {
  const [head = '', body = '', signature = ''] = good.split('.')
  const last = signature.at(-1) ?? ''
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const sibling = alphabet[alphabet.indexOf(last) ^ 1] ?? ''
  for (const bad of [
    `${good}=`,
    `${head}=.${body}.${signature}`,
    `${head}.${body}.${signature.slice(0, -1)}${sibling}`,
    `${head}.${body}. ${signature}`,
    `${head}.${body}\n.${signature}`,
    ` ${good}`,
    `${good}.`,
    `${good}.x`,
    '..',
    '.',
    '',
    'x',
    `${head}.${body}`,
    `${head}..${signature}`,
    `${head}.${body}.A`,
    JSON.stringify({ payload: body, protected: head, signature }),
  ])
    t.equal(proveToken(bad, trust), 'token_malformed', bad.slice(0, 20))
  t.type(proveToken(good.replaceAll('-', '+').replaceAll('_', '/'), trust), 'string')
})

t.test('claims must be whole and exactly ours', async (t) => {
  for (const payload of ['[]', 'null', '1', '"x"', '{', '', good])
    t.match(proveToken(signed(header, payload), trust), /malformed/, payload.slice(0, 10))
  const wrong = (change: object) => proveToken(signed(header, { ...claims, ...change }), trust)
  for (const iss of [
    'http://localhost:8080/auth/realms/beta',
    `${trust.issuer}/`,
    trust.issuer.toUpperCase(),
    [trust.issuer],
    undefined,
  ])
    t.equal(wrong({ iss }), 'issuer_wrong', String(iss))
  for (const aud of [
    'beta-user',
    'acme-use',
    'acme-user-x',
    ['acme-user', 'beta-user'],
    [],
    [['acme-user']],
    undefined,
  ])
    t.equal(wrong({ aud }), 'audience_wrong', String(aud))
  for (const change of [
    { sub: undefined },
    { sub: '' },
    { sub: 'a\r\nX-Service-Verified: true' },
    { sub: 'a b' },
    { sub: 'zoë' },
    { sub: 1 },
    { sub: ['user-1'] },
    { sid: undefined },
    { sid: '' },
    { iat: undefined },
    { iat: '1' },
    { iat: 1.5 },
    { iat: -1 },
    { exp: undefined },
    { exp: 1e300 },
    { nbf: '0' },
  ])
    t.equal(wrong(change), 'claims_malformed', JSON.stringify(change))
})

t.test('bytes that are not UTF-8 are refused', async (t) => {
  const payload = Buffer.concat([
    Buffer.from(JSON.stringify(claims).slice(0, -1) + ',"name":"'),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}'),
  ])
  const token = signRaw(current, `${encode(header)}.${payload.toString('base64url')}`)
  t.equal(proveToken(token, trust), 'claims_malformed')
})

t.test('a __proto__ claim stays a claim', async (t) => {
  const payload = JSON.stringify(claims).slice(0, -1) + ',"__proto__":{"name":"evil"}}'
  t.match(proveToken(signed(header, payload), trust), { name: '' })
  t.notOk('evil' in {})
})

t.test('a token is read up to the limit of bytes and no further', async (t) => {
  const padded = (bytes: number) => signed(header, { ...claims, pad: 'x'.repeat(bytes) })
  t.equal(proveToken(padded(5000), trust), 'token_too_long')
  t.equal(proveToken('x'.repeat(LIMITS.sessionTokenReadBytesMax + 1), trust), 'token_too_long')
  t.equal(proveToken('x'.repeat(LIMITS.sessionTokenReadBytesMax), trust), 'token_malformed')
})

t.test('a token is not good a second before its nbf', async (t) => {
  const proven = (nbf: number) => proveToken(signed(header, { ...claims, nbf }), trust)
  for (const [ahead, reason] of [
    [-1, undefined],
    [0, undefined],
    [1, 'not_yet_valid'],
    [60, 'not_yet_valid'],
  ] as const) {
    const read = proven(NOW + ahead)
    if (typeof read === 'string') return t.fail(read)
    t.equal(judgeTimes(read, NOW, 1000), reason)
  }
})

t.test('nbf is a second, and nothing that only looks like one', async (t) => {
  for (const nbf of ['0', null, NOW + 0.5, -1, [0], {}, true, 2 ** 53])
    t.equal(
      proveToken(signed(header, { ...claims, nbf }), trust),
      'claims_malformed',
      JSON.stringify(nbf),
    )
})

t.test('nothing stands before a header or a payload, a byte order mark neither', async (t) => {
  const [head, payload] = [JSON.stringify(header), JSON.stringify(claims)]
  for (const mark of ['\ufeff', '\ufeff\ufeff', '\ufffe', '\0']) {
    t.equal(proveToken(signed(header, mark + payload), trust), 'claims_malformed')
    t.equal(proveToken(signed(mark + head, payload), trust), 'token_malformed')
    t.equal(proveToken(signed(header, payload + mark), trust), 'claims_malformed')
  }
})
