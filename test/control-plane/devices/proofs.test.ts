/** Challenges and codes: each good once, for one sign-in of one tenant, for a minute. */
import { randomBytes } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { startDevices } from '../../support/devices.ts'

const DEVICE = 'dev_0123456789abcdef'

async function start(t: Parameters<typeof startDevices>[0]) {
  const api = await startDevices(t)
  await api.tenant('other')
  const { services, clock } = api
  const { deviceProofs: proofs, store } = services
  const asking = { tenantId: 'acme', uid: 'u'.repeat(21), userId: 'usr_ada', browserHash: 'hash' }
  const begin = async () => {
    const url = await proofs.begin(asking)
    const { cid } = decodeJwt<{ cid: string }>(url.split('/p/')[1] ?? '')
    return { url, cid }
  }
  const redeem = (cid: string, tenantId = 'acme') =>
    store.change((change) => proofs.redeem(change, { tenantId, deviceId: DEVICE, cid }))
  const take = (cid: string, code: string, tenantId = 'acme') =>
    store.change((change) => proofs.take(change, { tenantId, cid, code }))
  return { services, clock, proofs, asking, begin, redeem, take }
}

const REFUSED = { code: 'device_challenge_invalid' }

void t.test('a challenge leads to the agent of this machine, signed for its tenant', async (t) => {
  const { services, begin } = await start(t)
  const { url } = await begin()
  const { origin, pathname } = new URL(url)
  t.equal(origin, `http://127.0.0.1:${LIMITS.deviceProofPort}`)
  t.ok(url.length < LIMITS.deviceProofUrlBytesMax)
  const challenge = pathname.slice('/p/'.length)
  const [key] = (await services.challengeKeys.jwks()).keys
  t.match(decodeProtectedHeader(challenge), { alg: 'ES256', typ: 'dev-chal+jwt', kid: key?.kid })
  t.strictSame(Object.keys(decodeJwt(challenge)), ['iss', 'cid', 'aud'])
  t.match(decodeJwt(challenge), { aud: 'acme', cid: /^[\w-]{43}$/ })
})

void t.test('once proven it gives one code, and that counts once', async (t) => {
  const { begin, redeem, take, proofs, asking } = await start(t)
  const { cid } = await begin()
  t.same(await proofs.find('acme', cid), asking)
  const code = await redeem(cid)
  await t.rejects(redeem(cid), REFUSED, 'a second machine gets none')
  t.equal(await take(cid, code), DEVICE)
  t.equal(await take(cid, code), undefined, 'the code was used')
  await t.rejects(redeem(cid), REFUSED, 'and so was the challenge')
  t.equal(await proofs.find('acme', cid), undefined)
})

void t.test('of many machines that race with one challenge, one gets a code', async (t) => {
  const { begin, redeem } = await start(t)
  const { cid } = await begin()
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => redeem(cid)))
  t.equal(all.filter(({ status }) => status === 'fulfilled').length, 1)
})

void t.test('a guessed code burns the challenge', async (t) => {
  const { begin, redeem, take } = await start(t)
  const { cid } = await begin()
  const code = await redeem(cid)
  t.equal(await take(cid, randomBytes(32).toString('base64url')), undefined)
  t.equal(await take(cid, code), undefined)
  const early = await begin()
  t.equal(await take(early.cid, ''), undefined, 'before any machine has proven anything')
  await t.rejects(redeem(early.cid), REFUSED)
})

void t.test('neither lives longer than a minute', async (t) => {
  const { begin, redeem, take, proofs, clock } = await start(t)
  const late = await begin()
  clock.advance(LIMITS.deviceChallengeMs)
  await t.rejects(redeem(late.cid), REFUSED)
  t.equal(await proofs.find('acme', late.cid), undefined)
  const { cid } = await begin()
  clock.advance(LIMITS.deviceChallengeMs - 1)
  const code = await redeem(cid)
  clock.advance(LIMITS.deviceProofCodeMs - 1)
  t.ok(await proofs.find('acme', cid))
  clock.advance(1)
  t.equal(await take(cid, code), undefined)
})

void t.test('another tenant has nothing of it', async (t) => {
  const { begin, redeem, take, proofs } = await start(t)
  const { cid } = await begin()
  await t.rejects(redeem(cid, 'other'), REFUSED)
  t.equal(await proofs.find('other', cid), undefined)
  const code = await redeem(cid)
  t.equal(await take(cid, code, 'other'), undefined)
  t.equal(await take(cid, code), DEVICE, 'and burns nothing of it')
})

void t.test('one sign-in has so many on their way; the oldest goes', async (t) => {
  const { begin, redeem, clock } = await start(t)
  const all: string[] = []
  for (let made = 0; made <= LIMITS.deviceChallengesPerSignInMax; made++) {
    all.push((await begin()).cid)
    clock.advance(1)
  }
  const [oldest = '', ...others] = all
  await t.rejects(redeem(oldest), REFUSED)
  for (const cid of others) t.ok(await redeem(cid))
})
