import { generateKeyPairSync, createPublicKey } from 'node:crypto'
import t from 'tap'
import { createLocalJWKSet, jwtVerify, SignJWT } from 'jose'
import { createPrivateKey } from 'node:crypto'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { movableClock } from '../../support/control-plane.ts'

const HOUR_MS = 3_600_000

async function published(t: Parameters<typeof startApi>[0]) {
  const clock = movableClock()
  const api = await startApi(t, { clock })
  await api.tenant('acme', { max_session_seconds: 3600 })
  await api.operator('POST', '/tenants/acme/publish')
  const rotate = (body: unknown) => api.operator('POST', '/tenants/acme/keys/rotate', body)
  const statuses = async () =>
    (await api.services.keys.publicKeys('acme')).map(({ status }) => status)
  return { ...api, clock, rotate, statuses }
}

void t.test('a rotation through all phases refuses no valid session at any moment', async (t) => {
  const { services, clock, rotate, statuses } = await published(t)
  const sessions: { token: string; untilMs: number }[] = []

  const sign = async () => {
    const { jwks, currentKid } = await services.keys.signingSet('acme')
    const jwk = jwks.find(({ kid }) => kid === currentKid)
    if (jwk === undefined) throw new Error('nothing to sign with')
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'RS256', kid: jwk.kid })
      .sign(createPrivateKey({ key: jwk, format: 'jwk' }))
    sessions.push({ token, untilMs: clock.nowMs() + HOUR_MS })
  }
  /** As a gateway sees it: with the keys of the snapshot. */
  const allAccepted = async (when: string) => {
    const { snapshot } = (await services.fleetSource.snapshot('acme')) ?? {}
    const keys = createLocalJWKSet({ keys: snapshot?.keys ?? [] })
    for (const { token, untilMs } of sessions)
      if (untilMs > clock.nowMs()) await t.resolves(jwtVerify(token, keys), when)
  }

  await sign()
  t.match(await rotate({ phase: 'promote' }), { status: 409, body: { error: 'rotation_state' } })
  t.match(await rotate({ phase: 'retire' }), { status: 409, body: { error: 'rotation_state' } })
  t.match(await rotate({ phase: 'prepare' }), {
    status: 200,
    body: { keys: [{ status: 'current' }, { status: 'next' }] },
  })
  t.match(await rotate({ phase: 'prepare' }), { status: 409, body: { error: 'rotation_state' } })
  await allAccepted('prepared')
  await sign()

  clock.advance(HOUR_MS / 2)
  t.equal((await rotate({ phase: 'promote' })).status, 200)
  t.strictSame(await statuses(), ['current', 'retired'])
  await sign()
  await allAccepted('promoted')

  const early = await rotate({ phase: 'retire' })
  const until = new Date(clock.nowMs() + HOUR_MS).toISOString()
  t.match(early, { status: 409, body: { error: 'key_still_used', until } })
  clock.advance(HOUR_MS - 1)
  t.equal((await rotate({ phase: 'retire' })).status, 409, 'the last session lives one more moment')
  await allAccepted('before retiring')
  clock.advance(1)
  t.equal((await rotate({ phase: 'retire' })).status, 200)
  t.strictSame(await statuses(), ['current'])
  await allAccepted('retired')
})

void t.test('a leaked key is retired at once by force', async (t) => {
  const { rotate, statuses, operator } = await published(t)
  await rotate({ phase: 'prepare' })
  await rotate({ phase: 'promote' })
  t.equal((await rotate({ phase: 'retire', force: true })).status, 200)
  t.strictSame(await statuses(), ['current'])
  const [entry] = (await operator('GET', '/audit')).items
  t.match(entry, { action: 'keys.rotated', details: { phase: 'retire', force: true } })
})

void t.test('a draft has no keys to rotate', async (t) => {
  const { operator, tenant } = await startApi(t)
  await tenant('acme')
  const answer = await operator('POST', '/tenants/acme/keys/rotate', { phase: 'prepare' })
  t.match(answer, { status: 409, body: { error: 'tenant_draft' } })
})

void t.test(
  'a key of their own is taken when it is a sound RSA key, in either PEM form',
  async (t) => {
    const { rotate, services, operator, tenant } = await published(t)
    const pair = (bits: number, publicExponent = 65537) =>
      generateKeyPairSync('rsa', { modulusLength: bits, publicExponent })
    const pkcs8 = (key: ReturnType<typeof pair>['privateKey']) =>
      key.export({ type: 'pkcs8', format: 'pem' }).toString()
    const own = pair(2048)
    const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const locked = own.privateKey
      .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
      .toString()
    const refused = {
      'too short': pkcs8(pair(1024).privateKey),
      'too long for a token': pkcs8(pair(4104).privateKey),
      'exponent 3': pkcs8(pair(2048, 3).privateKey),
      'not for PKCS #1 v1.5': pss.export({ type: 'pkcs8', format: 'pem' }).toString(),
      'an EC key': ec.export({ type: 'pkcs8', format: 'pem' }).toString(),
      'a public key': own.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      encrypted: locked,
      'cut off': pkcs8(own.privateKey).slice(0, 200),
    }
    for (const [name, private_key_pem] of Object.entries(refused)) {
      const answer = await rotate({ phase: 'prepare', private_key_pem })
      t.match(answer, { status: 400, body: { field: 'private_key_pem' } }, name)
      t.notOk(JSON.stringify(answer.body).includes('BEGIN'), 'and it is not repeated')
    }
    const pkcs1 = own.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
    for (const phase of ['promote', 'retire'])
      t.match(await rotate({ phase, private_key_pem: pkcs1 }), {
        status: 400,
        body: { field: 'private_key_pem' },
      })
    t.equal((await rotate({ phase: 'prepare', private_key_pem: pkcs1 })).status, 200)
    const [, next] = await services.keys.publicKeys('acme')
    t.equal(next?.pem, own.publicKey.export({ type: 'spki', format: 'pem' }).toString())
    t.ok(createPublicKey(next?.pem ?? '').equals(own.publicKey))

    await tenant('other')
    await operator('POST', '/tenants/other/publish')
    const stolen = await operator('POST', '/tenants/other/keys/rotate', {
      phase: 'prepare',
      private_key_pem: pkcs8(own.privateKey),
    })
    t.match(stolen, { status: 409, body: { error: 'key_taken' } }, 'one key serves one tenant')
  },
)

void t.test('so many keys are published, and no more', async (t) => {
  const { rotate, statuses } = await published(t)
  for (let count = 1; count < LIMITS.signingKeysPerTenantMax; count++) {
    t.equal((await rotate({ phase: 'prepare' })).status, 200)
    await rotate({ phase: 'promote' })
  }
  t.equal((await statuses()).length, LIMITS.signingKeysPerTenantMax)
  t.match(await rotate({ phase: 'prepare' }), { status: 409, body: { error: 'rotation_state' } })
})
