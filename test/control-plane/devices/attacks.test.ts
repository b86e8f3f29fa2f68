/** What an agent's door is tried with. Nothing of it is written, logged or told apart. */
import { createHmac, createPublicKey, sign } from 'node:crypto'
import { decodeJwt } from 'jose'
import { pino } from 'pino'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import {
  contentOf,
  enrolJws,
  enrolment,
  makeDeviceKey,
  makePosture,
  machineJws,
  signJws,
  startDevices,
  type DeviceKey,
  type Machine,
} from '../../support/devices.ts'

const REFUSED = { status: 401, body: { error: 'device_refused' } }
const CHECK_IN = 'dev-checkin+jwt'
const CODE = 'dev-code+jwt'

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
/** Half of the number that a signature ends with tells the other half. */
const LAST = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

function badCheckIns(one: Machine, other: Machine): Record<string, string> {
  const { deviceId: kid, own } = one
  const content = contentOf(one, 'checkIn')
  const by = (header: object, key: DeviceKey = own) =>
    signJws({ typ: CHECK_IN, kid, ...header }, content, key)
  const good = machineJws(one, 'checkIn')
  const [header = '', payload = '', signature = ''] = good.split('.')
  const unsigned = (alg: string) => `${part({ alg, typ: CHECK_IN, kid })}.${payload}`
  const point = createPublicKey(own.privateKey).export({ format: 'der', type: 'spki' })
  const hmac = createHmac('sha256', point).update(unsigned('HS256')).digest('base64url')
  const der = sign('sha256', Buffer.from(`${header}.${payload}`), own.privateKey)
  const last = LAST[LAST.indexOf(signature.at(-1)!) ^ 1]
  return {
    'without a signature': `${unsigned('none')}.`,
    'alg none, with the signature': `${unsigned('none')}.${signature}`,
    'a MAC with the public key': `${unsigned('HS256')}.${hmac}`,
    'another algorithm named': by({ alg: 'ES384' }),
    'an enrolment': enrolJws(own),
    'an enrolment with a kid': by({ typ: 'dev-enroll+jwt' }),
    'a leave': machineJws(one, 'leave'),
    'a proof': machineJws(one, 'prove', { cid: 'c'.repeat(43) }),
    'a wish for a code': by({ typ: CODE }),
    'no typ': by({ typ: undefined }),
    crit: by({ crit: ['exp'], exp: 1 }),
    b64: by({ b64: false, crit: ['b64'] }),
    'a key by address': by({ jku: 'https://evil.example/jwks.json' }),
    'a certificate by address': by({ x5u: 'https://evil.example/x' }),
    'a certificate': by({ x5c: ['MIIB'] }),
    'a key of its own': by({ jwk: other.own.jwk }, other.own),
    'its own key, embedded': by({ jwk: own.jwk }),
    "another's key": by({}, other.own),
    "another's id": by({ kid: other.deviceId }),
    nobody: by({ kid: 'dev_0000000000000000' }),
    'an id that is none': by({ kid: ['dev_0000000000000000'] }),
    'an id of SQL': by({ kid: "' OR 1=1 --" }),
    'another payload': `${header}.${part({ ...content, ctr: 9 })}.${signature}`,
    'a signature in DER': `${header}.${payload}.${der.toString('base64url')}`,
    'a signature of zeros': `${header}.${payload}.${'A'.repeat(86)}`,
    'another spelling of the signature': `${header}.${payload}.${signature.slice(0, -1)}${last}`,
    padding: `${good}==`,
    'a line feed': `${good}\n`,
    'four parts': `${good}.${signature}`,
    'two parts': `${header}.${payload}`,
    'JSON serialization': JSON.stringify({ protected: header, payload, signature }),
    'a header that is no JSON': `${Buffer.from('{').toString('base64url')}.${payload}.${signature}`,
    nothing: '',
  }
}

void t.test('whatever is no check-in of a device is one and the same', async (t) => {
  const { machine, checkIn, say, services } = await startDevices(t)
  const [one, other] = [await machine(), await machine()]
  const state = async () =>
    JSON.stringify(await services.enrolledDevices.list('acme', {}, { limit: 10 }))
  const before = await state()
  for (const [name, jws] of Object.entries(badCheckIns(one, other)))
    t.match(await say('checkin', jws), REFUSED, name)
  t.equal(await state(), before)
  t.match(await checkIn(one), { status: 200 })
})

void t.test('only what asks for a code to be typed gets one', async (t) => {
  const { machine, say, operator } = await startDevices(t)
  const policy = { require: 'enrolled', typed_code: true }
  await operator('PUT', '/tenants/acme/policies/device', policy)
  const [one, other] = [await machine(), await machine()]
  const by = (typ: string, key = one.own, content = contentOf(one, 'prove')) =>
    signJws({ typ, kid: one.deviceId }, content, key)
  t.match(await say('code', by(CHECK_IN)), REFUSED)
  t.match(await say('code', by('dev-prove+jwt')), REFUSED)
  t.match(await say('code', by(CODE, other.own)), REFUSED)
  const wrong = { status: 400, body: { error: 'field_invalid' } }
  t.match(await say('code', by(CODE, one.own, contentOf(one, 'checkIn'))), wrong, 'without facts')
  const withCid = contentOf(one, 'prove', { cid: 'c'.repeat(43) })
  t.match(await say('code', by(CODE, one.own, withCid)), wrong, 'a proof is for its challenge')
  t.match(await say('code', by(CODE)), { status: 200, body: { expires_s: 60 } })
})

void t.test('nor is an enrolment anything but a key that signs for itself', async (t) => {
  const { ticket, say, enrol } = await startDevices(t)
  const { ticket: secret } = await ticket()
  const [own, other] = [makeDeviceKey(), makeDeviceKey()]
  const typ = 'dev-enroll+jwt'
  const jwk = own.jwk
  const by = (header: object, key = own) => signJws({ typ, jwk, ...header }, enrolment(), key)
  const p384 = makeDeviceKey('P-384')
  const k256 = makeDeviceKey('secp256k1')
  const bad: Record<string, string> = {
    'the key of another': by({ jwk: other.jwk }),
    'signed by another': by({}, other),
    'another curve': signJws({ typ, jwk: p384.jwk }, enrolment(), p384),
    'a curve alike': by({ jwk: { ...k256.jwk, crv: 'P-256' } }, k256),
    'a curve alike, named': by({ jwk: k256.jwk }, k256),
    'a point beside the curve': by({ jwk: { ...jwk, y: jwk.x } }),
    'a private key': by({ jwk: { ...jwk, d: jwk.x } }),
    'no key': by({ jwk: undefined }),
    'a kid beside it': by({ kid: 'dev_0000000000000000' }),
    'a check-in': by({ typ: CHECK_IN }),
    'alg none': `${part({ alg: 'none', typ, jwk })}.${part(enrolment())}.`,
    crit: by({ crit: ['exp'], exp: 1 }),
  }
  for (const [name, jws] of Object.entries(bad))
    t.match(await say('enroll', jws, secret), REFUSED, name)
  t.match(await enrol(secret, own), { status: 201 }, 'and the ticket is as good as before')
})

void t.test('what is signed is read as strictly, and bounded', async (t) => {
  const { machine, checkIn, say, ticket, enrol } = await startDevices(t)
  const one = await machine()
  const wrong: [string, object][] = [
    ['ctr', { ctr: -1 }],
    ['ctr', { ctr: 2 ** 60 }],
    ['prev', { prev: 'a b' }],
    ['boot_id', { boot_id: 'x'.repeat(65) }],
    ['boot_id', { boot_id: '' }],
    ['age_s', { age_s: 'old' }],
    ['posture', { posture: { ...one.posture, more: 1 } }],
    ['payload', { is_admin: true }],
  ]
  for (const [field, other] of wrong)
    t.match(await checkIn(one, other), { status: 400, body: { error: 'field_invalid', field } })
  const { deviceBodyBytesMax: most, deviceDetailCharactersMax: longest } = LIMITS
  t.match(await say('checkin', 'x'.repeat(most)), REFUSED)
  t.match(await say('checkin', 'x'.repeat(most + 1)), {
    status: 413,
    body: { error: 'body_too_large', bytes_max: most },
  })
  const withDetail = (length: number) => {
    const posture = makePosture()
    const firewall = { ...posture.facts.firewall, detail: 'é'.repeat(length) }
    return { ...posture, facts: { ...posture.facts, firewall } }
  }
  one.posture = withDetail(longest + 1)
  t.match(await checkIn(one, { posture: one.posture }), { status: 400 })
  one.posture = withDetail(longest)
  t.match(await checkIn(one, { posture: one.posture }), { status: 200 })

  const { ticket: secret } = await ticket()
  const hostnames = [
    'x'.repeat(LIMITS.deviceHostnameCharactersMax + 1),
    '',
    'a\nb',
    'a\u202eb',
    'a\u0000',
    'a\u200bb',
  ]
  for (const hostname of hostnames)
    t.match(await enrol(secret, makeDeviceKey(), { hostname }), {
      status: 400,
      body: { error: 'field_invalid', field: 'hostname' },
    })
  const hostname = '<script>alert(1)</script>'.padEnd(LIMITS.deviceHostnameCharactersMax, '"')
  t.match(await enrol(secret, makeDeviceKey(), { hostname }), { status: 201 })
})

void t.test('a proof is for a challenge of its own tenant, once and in time', async (t) => {
  const { machine, checkIn, say, services, clock, tenant } = await startDevices(t)
  await tenant('other')
  const one = await machine()
  await checkIn(one)
  const begin = async (tenantId: string) => {
    const asking = { tenantId, uid: 'u'.repeat(21), userId: 'ada', browserHash: 'hash' }
    const url = await services.deviceProofs.begin(asking)
    return decodeJwt<{ cid: string }>(url.split('/p/')[1] ?? '').cid
  }
  const prove = (cid: string) => say('prove', machineJws(one, 'prove', { cid }))
  const invalid = { status: 404, body: { error: 'device_challenge_invalid' } }
  t.match(await prove('c'.repeat(43)), invalid, 'of nobody')
  t.match(await prove(await begin('other')), invalid, 'of another tenant')
  const late = await begin('acme')
  clock.advance(LIMITS.deviceChallengeMs)
  t.match(await prove(late), invalid, 'too late')
  const cid = await begin('acme')
  const proven = await prove(cid)
  t.match(proven, { status: 200, body: { code: /^[\w-]{43}$/, next: /^[\w-]{43}$/ } })
  one.prev = String(proven.body['next'])
  one.ctr++
  t.match(await prove(cid), invalid, 'it was used')
  t.match(await checkIn(one), { status: 200 }, 'and what was refused cost the machine nothing')
  const found = await services.enrolledDevices.find('acme', one.deviceId)
  t.same(found.posture, one.posture, 'its facts have come with it')
})

void t.test('no ticket and no message is in a log or an answer', async (t) => {
  let logged = ''
  const log = pino({ level: 'trace' }, { write: (line: string) => void (logged += line) })
  const { machine, ticket, enrol, say, services } = await startDevices(t, { log })
  const one = await machine()
  const { ticket: secret } = await ticket()
  const answers = [
    await enrol(secret, makeDeviceKey(), { hostname: '' }),
    await say('enroll', 'a.b.c', secret),
    await say('checkin', machineJws(one, 'checkIn', { ctr: -1 })),
  ]
  const jws = machineJws(one, 'checkIn')
  const { change } = services.store
  services.store.change = () => Promise.reject(new Error('the disk is full'))
  answers.push(await say('checkin', jws), await enrol(secret, makeDeviceKey()))
  services.store.change = change
  t.strictSame(
    answers.map(({ status }) => status),
    [400, 401, 400, 500, 500],
  )
  t.match(logged, 'the disk is full')
  const said = logged + JSON.stringify(answers.map(({ body }) => body))
  for (const hidden of [secret, one.prev, jws, ...jws.split('.')]) t.notMatch(said, hidden)
})
