/** An agent that somebody else wrote from the protocol, with spellings of its own. */
import { createHash, randomUUID } from 'node:crypto'
import { decodeJwt } from 'jose'
import t from 'tap'
import {
  enrolment,
  makeDeviceKey,
  makePosture,
  signJws,
  startDevices,
} from '../../support/devices.ts'

const hex = (text: string) => createHash('sha256').update(text).digest('hex')

void t.test('it enrolls, checks in, proves and leaves', async (t) => {
  const { call, ticket, services, operator } = await startDevices(t)
  const own = makeDeviceKey()
  const post = (path: string, raw: string, type: string, key: string | null = null) =>
    call('POST', `/agent/v1/${path}`, undefined, { key, type, raw })

  const rid = randomUUID()
  const said = enrolment({ arch: 'x86_64', machine_hash: hex('machine'), rid })
  const enrolJws = signJws({ typ: 'dev-enroll+jwt', jwk: own.jwk }, said, own)
  const enrolled = await post('enroll', enrolJws, 'text/plain', (await ticket()).ticket)
  t.match(enrolled, { status: 201, body: { device_id: String, next: String } })
  const kid = String(enrolled.body['device_id'])
  const { body: trail } = await operator('GET', '/audit?tenant_id=acme')
  t.match((trail['items'] as unknown[])[0], { action: 'device.enrolled', details: { rid } })

  let prev = String(enrolled.body['next'])
  let ctr = 0
  const boot_id = randomUUID()
  async function say(path: string, typ: string, content: object = {}) {
    const payload = { ctr: ctr++, prev, boot_id, ...content }
    const answer = await post(path, signJws({ typ, kid }, payload, own), '')
    prev = String(answer.body['next'])
    return answer
  }
  const posture_hash = hex('facts')
  const posture = makePosture()
  const checkIn = (more: object = {}) =>
    say('checkin', 'dev-checkin+jwt', { posture_hash, ...more })
  t.match(await checkIn(), { status: 200, body: { want_posture: true } })
  t.match(await checkIn({ posture }), { status: 200, body: { want_posture: false } })
  t.match(await checkIn(), { status: 200, body: { want_posture: false } })

  for (const typ of ['dev-checkin+jwt', 'dev-prove+jwt']) {
    const asking = { tenantId: 'acme', uid: 'u'.repeat(21), userId: 'ada', browserHash: 'hash' }
    const url = await services.deviceProofs.begin(asking)
    const { cid } = decodeJwt<{ cid: string }>(url.split('/p/')[1] ?? '')
    const proof = { posture_hash, posture, cid }
    t.match(await say('prove', typ, proof), { status: 200, body: { code: String } }, typ)
  }
  t.match(await say('leave', 'dev-leave+jwt'), { status: 204 })
})

void t.test('starts of a machine are told apart by all of their names', async (t) => {
  const { machine, checkIn } = await startDevices(t)
  const one = await machine()
  for (const start of ['1', '2', '3']) {
    one.bootId = `00000000-0000-0000-0000-00000000000${start}`
    t.match(await checkIn(one), { status: 200 })
  }
  one.bootId = '00000000-0000-0000-0000-000000000001'
  t.match(await checkIn(one), { status: 409, body: { error: 'device_suspect_clone' } })
})

void t.test('facts that are older than time are shown as old, and break no list', async (t) => {
  const { machine, checkIn, operator } = await startDevices(t)
  const one = await machine()
  t.match(await checkIn(one, { age_s: Number.MAX_SAFE_INTEGER }), { status: 200 })
  const { body } = await operator('GET', '/tenants/acme/devices')
  t.match(body['items'], [{ collected_at: '1970-01-01T00:00:00.000Z' }])
})

void t.test('what it has to say stands in the API reference', async (t) => {
  const { call } = await startDevices(t)
  const { body } = await call('GET', '/api/v1/openapi.json', undefined, { key: null })
  const paths = body['paths'] as Record<string, { post: { requestBody: { description: string } } }>
  t.match(
    paths['/agent/v1/checkin']?.post.requestBody.description,
    '`ctr`, `prev`, `boot_id`, `posture_hash`, `age_s` (optional), `posture` (optional).',
  )
  t.match(paths['/agent/v1/enroll']?.post.requestBody.description, '`rid` (optional).')
})
