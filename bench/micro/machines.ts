/**
 * What a request of a machine costs in the decision, by secret and by token whose proof is remembered;
 * and what a tenant with machines pays for tokens that are none of ours: `node bench/micro/machines.ts`.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { compileServices } from '../../shared/enforcement/machines.ts'
import { createMachineReader } from '../../shared/enforcement/read-machine.ts'
import { createSessionReader } from '../../shared/enforcement/read-session.ts'
import { clockOf } from '../../test/support/clocks.ts'

const ROUNDS = 100_000
const NOW = Math.floor(Date.now() / 1000)
const [ISSUER, AUDIENCE, SERVICE] = [
  'https://id.example.com/auth/realms/acme',
  'acme-user',
  'svc_0123456789abcdef',
]
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function signed(head: object, claims: object): string {
  const input = `${encoded(head)}.${encoded(claims)}`
  return `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`
}

const who = { iss: ISSUER, aud: AUDIENCE, sub: SERVICE, client_id: SERVICE, iat: NOW }
const identity = signed({ alg: 'RS256', kid: 'k' }, { ...who, sid: SERVICE, exp: NOW + 604_800 })
const secretId = 'ssk_0123456789abcdef'
const bearer = signed(
  { alg: 'RS256', kid: 'k', typ: 'at+jwt' },
  { ...who, secret_id: secretId, exp: NOW + 600, jti: 'x'.repeat(22) },
)
const foreign = signed(
  { alg: 'RS256' },
  { ...who, iss: 'https://idp.example.org/', roles: ['a', 'b'] },
)
const secret = `sms_${randomBytes(32).toString('base64url')}`
const hash = createHash('sha256').update(secret).digest('base64url')
const tenant = {
  tenantId: 'acme',
  services: compileServices({
    services: [
      {
        service_id: SERVICE,
        identity,
        secrets: [{ secret_id: secretId, hash, ends_at: NOW + 3600 }],
      },
    ],
  }),
  trust: { issuer: ISSUER, audience: AUDIENCE, keys: new Map([['k', publicKey]]) },
}
const sessions = createSessionReader({ carry: () => undefined })
const reader = createMachineReader({ sessions, clock: clockOf(() => Date.now()) })
const asked = { cookies: '', clientAddress: '203.0.113.1', nowSeconds: NOW, tenant }
const machine = { ids: [SERVICE], secrets: [secret] }

function judged(request: Pick<Parameters<typeof reader.read>[0], 'machine' | 'authorization'>) {
  const whole = { ...asked, ...request }
  return reader.brings(whole) === undefined ? 'none' : reader.read(whole).kind
}

const AUTHORIZATIONS = [bearer, foreign, `${secret}${secret}`].map(
  (token) => Buffer.from(`Bearer ${token}`).toString('latin1'), // flat, as one that was read
)
const [ours = '', theirs = '', opaque = ''] = AUTHORIZATIONS

const KINDS: Readonly<Record<string, () => string>> = {
  'no credentials at all': () => judged({ machine: undefined, authorization: '' }),
  'id and secret': () => judged({ machine, authorization: '' }),
  'a token, remembered': () => judged({ machine: undefined, authorization: ours }),
  'another issuer’s token': () => judged({ machine: undefined, authorization: theirs }),
  'an opaque token': () => judged({ machine: undefined, authorization: opaque }),
}

/** Of this process alone: whatever else runs here takes its time and not ours. */
function cpuNs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

for (const [name, work] of Object.entries(KINDS)) {
  const rounds: number[] = []
  let result = ''
  for (let at = 0; at < 7; at++) {
    const before = cpuNs()
    for (let round = 0; round < ROUNDS; round++) result = work()
    rounds.push((cpuNs() - before) / ROUNDS)
  }
  const sorted = rounds.toSorted((a, b) => a - b)
  const [least = 0, , , median = 0] = sorted
  console.log(
    `${name}: ${Math.round(median)} ns of CPU, ${Math.round(least)} at least (7 × ${ROUNDS}), ${result}`,
  )
}
