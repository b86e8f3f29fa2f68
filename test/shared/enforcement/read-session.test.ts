/** From cookies to sessions: what a request may cost, whatever it brings along. */
import t from 'tap'
import { createSessionReader } from '../../../shared/enforcement/read-session.ts'
import { deriveKey } from '../../../shared/enforcement/seen.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { newSigningKey, signRs256, type SigningKey } from '../../support/tokens.ts'

const NOW = 1_800_000_000
const KEY = newSigningKey('k1')
const OTHER = newSigningKey('k1')

const tenant = {
  trust: { issuer: 'i', audience: 'a', keys: new Map([[KEY.kid, KEY.publicKey]]) },
  sessionRules: { sessionSecondsMax: 28_800, idleSeconds: 900, binding: 'off' as const },
  seenKeys: [deriveKey('a secret', 'seen')] as const,
}

function cookieOf(sid: string, key: SigningKey = KEY): string {
  const times = { iat: NOW, exp: NOW + 3600, auth_time: NOW }
  const claims = { iss: 'i', aud: 'a', sub: 'ada', sid, ...times, amr: ['pwd'] }
  return `service_session=${signRs256(key, { alg: 'RS256', kid: key.kid, typ: 'JWT' }, claims)}`
}

const requestOf = (...cookies: string[]) => ({
  cookies: cookies.join('; '),
  userAgent: '',
  clientAddress: '192.0.2.1',
  isCookieSecure: false,
  nowSeconds: NOW,
  tenant,
  revoked: { all: 0, subjects: new Map<string, number>(), sids: new Map<string, number>() },
})

const newReader = () => createSessionReader({ carry: () => undefined })
const sidsOf = (all: ReturnType<ReturnType<typeof newReader>['allOf']>) =>
  all.map(({ claims }) => claims.sid)

t.test('of many sessions in one request two are proven', async (t) => {
  t.equal(LIMITS.tokensProvenPerRequestMax, 2)
  const { allOf, stats } = newReader()
  const forged = Array.from({ length: 8 }, (_, at) => cookieOf(`forged-${at}`, OTHER))
  t.same(allOf(requestOf(...forged)), [])
  t.equal(stats.misses, 2)
  t.same(sidsOf(allOf(requestOf(cookieOf('a'), cookieOf('b'), cookieOf('c')))), ['a', 'b'])
  t.equal(stats.misses, 4)
})

t.test('one that is known costs no proof, wherever it stands', async (t) => {
  const { allOf, claimsOf, stats } = newReader()
  const own = cookieOf('own')
  t.equal(claimsOf(requestOf(own))?.claims.sid, 'own')
  const forged = Array.from({ length: 8 }, (_, at) => cookieOf(`forged-${at}`, OTHER))
  t.same(sidsOf(allOf(requestOf(...forged, own))), ['own'])
  t.equal(stats.misses, 3)
})
