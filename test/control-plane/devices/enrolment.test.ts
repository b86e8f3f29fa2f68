/** How a machine becomes a device: the operator's half, and the first message of the agent. */
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { enrolJws, makeDeviceKey, startDevices } from '../../support/devices.ts'

const TICKETS = '/tenants/acme/device-tickets'
const REFUSED = { status: 401, body: { error: 'device_ticket_invalid' } }

void t.test('a ticket lets one device in, within a day', async (t) => {
  const { operator, ticket, enrol, clock, services } = await startDevices(t)
  const made = await operator('POST', TICKETS, { platform: 'linux' })
  t.match(made, {
    status: 201,
    body: { ticket_id: /^dvt_/, ticket: /^sdt_[\w-]{43}$/, uses: 1, uses_left: 1, user_id: null },
  })
  const { expires_at: expiresAt, ticket: secret = '', url } = made.body as Record<string, string>
  t.equal(url, `${services.baseUrl}/install/linux?ticket=${secret}`)
  const seconds = (Date.parse(expiresAt ?? '') - clock.nowMs()) / 1000
  t.equal(seconds, LIMITS.deviceTicketSecondsDefault)
  const listed = await operator('GET', TICKETS)
  t.match(listed.items, [{ ticket_id: made.body['ticket_id'], platform: 'linux' }])
  t.notMatch(JSON.stringify(listed.body), secret, 'it is shown once')
  const kept = await services.store.read.select().from(schema.deviceTickets)
  t.equal(kept.length, 1)
  t.notMatch(JSON.stringify(kept), secret, 'and kept by its hash alone')

  const own = makeDeviceKey()
  const enrolled = await enrol(secret, own)
  const { origin } = new URL(services.baseUrl)
  t.match(enrolled, {
    status: 201,
    body: {
      ...{ device_id: /^dev_[0-9a-f]{16}$/, tenant_id: 'acme', state: 'pending', origin },
      confirm: `${services.baseUrl}/auth/realms/acme/device/confirm`,
      ...{ poll_s: LIMITS.deviceCheckInSeconds, next: /^[\w-]{43}$/ },
    },
  })
  const { keys } = enrolled.body['challenge_jwks'] as { keys: Record<string, string>[] }
  t.match(keys, [
    { crv: 'P-256', kid: String },
    { crv: 'P-256', kid: String },
  ])
  t.notOk(keys.some((key) => 'd' in key))
  t.strictSame((await operator('GET', TICKETS)).items, [], 'it is used up')
  t.match(await enrol(secret, makeDeviceKey()), REFUSED)
  t.match(await enrol('sdt_nobodys', own), REFUSED)

  const late = await ticket({ expires_in: LIMITS.deviceTicketSecondsMin })
  clock.advance(LIMITS.deviceTicketSecondsMin * 1000)
  t.match(await enrol(late.ticket, makeDeviceKey()), REFUSED, 'it has expired')
  const gone = await ticket()
  t.match(await operator('DELETE', `${TICKETS}/${gone.ticket_id}`), { status: 204 })
  t.match(await enrol(gone.ticket, makeDeviceKey()), REFUSED, 'it was deleted')
  const missing = { status: 404, body: { error: 'device_ticket_not_found' } }
  t.match(await operator('DELETE', `${TICKETS}/${gone.ticket_id}`), missing)
})

void t.test('who asks again with the same key is the same device, for ten minutes', async (t) => {
  const { ticket, enrol, clock } = await startDevices(t)
  const [{ ticket: secret }, own] = [await ticket(), makeDeviceKey()]
  const first = await enrol(secret, own)
  clock.advance(LIMITS.deviceEnrolAgainMs)
  const again = await enrol(secret, own)
  t.equal(again.status, 201)
  t.equal(again.body['device_id'], first.body['device_id'])
  t.not(again.body['next'], first.body['next'])
  clock.advance(1)
  t.match(await enrol(secret, own), REFUSED)
})

void t.test('of fifty at once with one ticket, one gets in', async (t) => {
  const { ticket, enrol } = await startDevices(t)
  const { ticket: secret } = await ticket()
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => enrol(secret, makeDeviceKey())),
  )
  t.equal(answers.filter(({ status }) => status === 201).length, 1)
  t.equal(answers.filter(({ status }) => status === 401).length, 49)
})

void t.test(
  'a ticket is for one platform, one tenant and, if it says so, one network',
  async (t) => {
    const { ticket, enrol, tenant, operator, say } = await startDevices(t)
    const windows = await ticket({ platform: 'windows' })
    const own = makeDeviceKey()
    t.match(await enrol(windows.ticket, own), REFUSED)
    t.match(await enrol(windows.ticket, own, { platform: 'windows' }), { status: 201 })

    const near = await ticket({ network: '198.51.100.0/24', uses: 2 })
    t.match(await enrol(near.ticket, own, {}, '192.0.2.1'), REFUSED)
    t.match(await enrol(near.ticket, own, {}, 'unknown'), REFUSED)
    t.match(await enrol(near.ticket, own, {}, '198.51.100.9'), { status: 201 })

    await tenant('other')
    const others = await operator('POST', '/tenants/other/device-tickets', { platform: 'linux' })
    const secret = String(others.body['ticket'])
    t.match(await enrol(secret, own), { status: 201, body: { tenant_id: 'other' } })
    t.match(await operator('DELETE', `${TICKETS}/${String(others.body['ticket_id'])}`), {
      status: 404,
    })
    t.match(await say('enroll', enrolJws(own)), REFUSED, 'without one')
  },
)

void t.test('tickets are bounded, and so is what is said of them', async (t) => {
  const { operator, ticket } = await startDevices(t)
  const { deviceTicketUsesMax: most, deviceTicketSecondsMax: longest } = LIMITS
  const wrong = [
    { uses: 0 },
    { uses: most + 1 },
    { expires_in: LIMITS.deviceTicketSecondsMin - 1 },
    { expires_in: longest + 1 },
    { network: 'somewhere' },
    { platform: 'macos' },
  ]
  for (const body of wrong)
    t.match(await operator('POST', TICKETS, { platform: 'linux', ...body }), {
      status: 400,
      body: { error: 'field_invalid', field: Object.keys(body)[0] },
    })
  const nobody = { platform: 'linux', user_id: 'usr_nobody' }
  t.match(await operator('POST', TICKETS, nobody), {
    status: 404,
    body: { error: 'user_not_found', field: 'user_id' },
  })
  await ticket({ uses: most, expires_in: longest })
  for (let left = LIMITS.deviceTicketsPerTenantMax - 1; left > 0; left--) await ticket()
  const full = { status: 409, body: { error: 'device_tickets_full' } }
  t.match(await operator('POST', TICKETS, { platform: 'linux' }), full)
})
