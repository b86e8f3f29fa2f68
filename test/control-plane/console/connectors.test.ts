/** Connectors: what one joins with, how each is doing, and how one is sent away. */
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { VERSION } from '../../../shared/version.ts'
import type { ConnectorPresence } from '../../../shared/fleet/connector-presence.ts'
import { makeKey } from '../../support/connectors.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { giveRole, startConsole } from '../../support/console.ts'

const PAGE = '/console/tenants/acme/connectors'
const FORM = { name: '', uses: '1', expires_in: String(LIMITS.connectorTokenSecondsDefault) }

async function startPage(t: Test) {
  const clock = movableClock()
  const world = await startConsole(t, { clock })
  const { tenants, connectors, joinTokens, connectorPresence, gatewayDoors } = world.services
  await tenants.patch('acme', { mode: 'connector' }, ACTOR)
  await tenants.publish('acme', ACTOR)
  async function joined(name: string) {
    const asked = { name, uses: 1, expiresIn: 3600 }
    const { token } = await joinTokens.make('acme', asked, ACTOR)
    const { publicKey } = makeKey()
    const joining = { publicKey, name, program: VERSION, requestId: 'r1' }
    return (await connectors.join(token, joining)).connectorId
  }
  const says = (gatewayId: string, connector_id: string, one: Partial<ConnectorPresence> = {}) => {
    // what a gateway says first may have been counted already
    const nobody = { type: 'connectors' as const, is_full: false, here: [], gone: [] }
    connectorPresence.receive(gatewayId, nobody)
    connectorPresence.receive(gatewayId, {
      type: 'connectors',
      is_full: false,
      here: [
        {
          ...{ tenant_id: 'acme', connector_id, state: 'connected', reason: null },
          ...{ program: VERSION, since_seconds: 60, known_seconds: 0, connections: 2, in_use: 1 },
          ...{ requests: 1234, round_trip_ms: 12, last_error: null },
          ...one,
        },
      ],
      gone: [],
    })
  }
  const openDoor = () =>
    gatewayDoors.connected('edge-1', { address: 'edge.example:443', certificate: 'AAAA' })
  return { ...world, clock, joined, says, openDoor }
}

const rowOf = (text: string, name: string) =>
  new RegExp(`<th scope="row"[^>]*>${name}[^]*?</tr>`).exec(text)?.[0] ?? 'none'

void t.test('an empty list says what would be in it, and how the first one comes', async (t) => {
  const { person, openDoor } = await startPage(t)
  const ada = await person('acme')
  const { text } = await ada.get(PAGE)
  t.match(text, /No connectors yet.*needs no open port.*href="#new-token"/s)
  t.match(text, /<form method="post" action="\/console\/tenants\/acme\/connectors\/tokens"/)
  t.match(text, /No gateway accepts connectors.*Ask an operator/s)
  await openDoor()
  t.notMatch((await ada.get(PAGE)).text, /No gateway accepts/)
  t.match(
    (await ada.get('/console/tenants/acme')).text,
    new RegExp(`href="${PAGE}"[^>]*>Connectors<`),
  )
  t.notMatch((await ada.get(PAGE)).text, /data-copy/, 'there is no token to copy yet')
})

void t.test('a token is shown once, with what to paste, and it lets a connector in', async (t) => {
  const { person, services } = await startPage(t)
  const ada = await person('acme')
  const made = await ada.post(`${PAGE}/tokens`, { ...FORM, name: 'Berlin', uses: '2' })
  t.equal(made.status, 200)
  const [token = ''] = /sct_[\w-]{43}/.exec(made.text) ?? []
  t.match(made.text, /Copy it now.*2 connectors.*connector\/install \| sh/s)
  t.match(made.text, /service-connector join --origin http:\/\/127\.0\.0\.1:3000/)
  t.match(made.text, /hides what you paste.*--token-file/s)
  t.notMatch(made.text, new RegExp(`join[^\n<]*${token}`), 'it is in no command')
  const listed = (await ada.get(PAGE)).text
  t.notMatch(listed, token)
  t.match(rowOf(listed, 'Berlin'), /2 of 2.*2026-01-02/s)
  const { publicKey } = makeKey()
  const joining = { publicKey, name: 'web-1', program: '9.9.9', requestId: 'r1' }
  await services.connectors.join(token, joining)
  const after = (await ada.get(PAGE)).text
  t.match(rowOf(after, 'Berlin'), /1 of 2/)
  t.match(rowOf(after, 'web-1'), /Version\s9\.9\.9, latest:.*Not connected.*never connected/s)
  const [tokenPath = ''] = /\/console\/\S+\/delete/.exec(rowOf(after, 'Berlin')) ?? []
  t.match((await ada.get(tokenPath)).text, /Delete the join token Berlin\?/)
  t.match(await ada.post(tokenPath), { status: 303, location: new RegExp(PAGE) })
  t.equal(rowOf((await ada.get(PAGE)).text, 'Berlin'), 'none')
  t.match((await ada.get(tokenPath)).status, 404)
})

void t.test('what is wrong with the form stands beside its field', async (t) => {
  const { person } = await startPage(t)
  const ada = await person('acme')
  const most = LIMITS.connectorTokenUsesMax
  const { status, text } = await ada.post(`${PAGE}/tokens`, { ...FORM, uses: String(most + 1) })
  t.equal(status, 422)
  t.match(text, new RegExp(`Fix one field.*Uses.*from 1 to ${most}`, 's'))
})

void t.test('how each is doing; gateways are named to operators', async (t) => {
  const { person, joined, says, clock, services } = await startPage(t)
  const [one, two] = [await joined('web-1'), await joined('<b>evil')]
  says('edge-1', one)
  const last_error = { reason: 'refused', age_seconds: 120 }
  says('edge-2', one, { round_trip_ms: 30, last_error })
  const refused = { state: 'unreachable', reason: 'refused', round_trip_ms: 0 } as const
  says('edge-1', two, { ...refused, program: '0.0.1', last_error })
  const [ada, grace] = [await person('acme'), await person('operator')]
  const { text } = await ada.get(PAGE)
  t.notMatch(text, '<b>evil')
  t.match(
    rowOf(text, 'web-1'),
    />Connected<.*>2 gateways<.*30\sms.*2,468.*Connection refused.*2 minutes ago/s,
  )
  t.match(
    rowOf(text, '&lt;b&gt;evil'),
    /0\.0\.1.*Unreachable.*the application refuses connections.*>1 gateway<.*&lt; 1\sms/s,
  )
  t.notMatch(text, /edge-1/)
  t.match(rowOf((await grace.get(PAGE)).text, 'web-1'), /2 gateways: edge-1, edge-2/)
  await services.jobs.run()
  clock.advance(LIMITS.connectorPresenceMs)
  t.match(rowOf((await ada.get(PAGE)).text, 'web-1'), /Not connected.*last seen/s)
})

void t.test('revoking one asks first, and says whether anybody is left', async (t) => {
  const { person, joined, says } = await startPage(t)
  const [one, two] = [await joined('web-1'), await joined('web-2')]
  says('edge-1', one)
  const ada = await person('acme')
  const path = `${PAGE}/${one}/revoke`
  t.match((await ada.get(path)).text, /Revoke web-1\?.*closed at once.*get a 503 response/s)
  says('edge-1', two)
  t.notMatch((await ada.get(path)).text, /a 503 response/) // a proof in it may hold these digits
  t.match(await ada.post(path), { status: 303, location: new RegExp(PAGE) })
  const { text } = await ada.get(PAGE)
  t.equal(rowOf(text, 'web-1'), 'none')
  t.match(rowOf(text, 'web-2'), /Connected/)
  t.equal((await ada.get(path)).status, 404)
  const audit = (await ada.get('/console/tenants/acme/audit')).text
  t.match(audit, /Revoked a connector.*web-1/s)
  t.match(audit, /the connector con_.*A connector joined/s)
})

void t.test('who may only look sees the lists, and nothing to press', async (t) => {
  const { person, joined, services } = await startPage(t)
  const connectorId = await joined('web-1')
  const asked = { name: 'Berlin', uses: 1, expiresIn: 3600 }
  await services.joinTokens.make('acme', asked, ACTOR)
  const vera = await person(undefined)
  await giveRole(services, vera.userId, 'acme', true)
  const { text } = await vera.get(PAGE)
  t.match(text, /web-1.*Berlin/s)
  t.notMatch(text, /Revoke|>Delete|new-token|Create join token/)
  t.match(await vera.post(`${PAGE}/tokens`, FORM), { status: 403 })
  t.match(await vera.post(`${PAGE}/${connectorId}/revoke`), { status: 403 })
})

void t.test('of a draft it says that no gateway knows it yet', async (t) => {
  const { person, services } = await startPage(t)
  await services.tenants.patch('other', { mode: 'connector' }, ACTOR)
  const page = '/console/tenants/other/connectors'
  t.match((await (await person('other')).get(page)).text, /Publish the tenant first\./)
  t.notMatch((await (await person('acme')).get(PAGE)).text, /Publish the tenant first/)
})

void t.test('in other modes the page says whom to ask, and stands in no navigation', async (t) => {
  const { person, services } = await startPage(t)
  await services.tenants.patch('acme', { mode: 'gateway' }, ACTOR)
  const [ada, grace] = [await person('acme'), await person('operator')]
  t.match((await ada.get(PAGE)).text, /No connectors in this mode.*ask an operator/s)
  t.match((await grace.get(PAGE)).text, /change the mode to connector.*Open Settings/s)
  t.notMatch((await ada.get('/console/tenants/acme')).text, />Connectors</)
  t.match(await ada.post(`${PAGE}/tokens`, FORM), { status: 409 })
})

void t.test('the setup checklist leads there, and ticks itself', async (t) => {
  const { person, joined, says } = await startPage(t)
  const ada = await person('acme')
  const start = async () => {
    const { text } = await ada.get('/console/tenants/acme')
    return {
      step: /<h3>Connector connected[^]*?<\/li>/.exec(text)?.[0] ?? 'none',
      details: text.slice(text.indexOf('<h2>Details')),
    }
  }
  const before = await start()
  t.match(before.step, /\(to do\).*connector\/install \| sh.*join --origin/s)
  t.match(before.step, `href="${PAGE}#new-token">Create a join token`)
  t.match(before.details, /Reached by.*connectors<\/a>/s)
  t.notMatch(before.details, '<dt>Origin')
  const one = await joined('web-1')
  t.match((await start()).step, /\(failed\).*web-1 has joined but is not connected.*diag/s)
  await joined('web-2')
  t.match((await start()).step, /None of the 2 connectors that have joined is connected\./)
  says('edge-1', one, { state: 'unreachable', reason: 'refused' })
  t.match((await start()).step, /web-1 is connected, but the application refuses connections/)
  says('edge-1', one)
  t.match((await start()).step, /\(done\).*Connected: web-1\./s)
})

void t.test('what somebody has made to let machines in ends with what they may do', async (t) => {
  const { services, person } = await startPage(t)
  const { connectors, deviceTickets, consoleAccess } = services
  const { people } = consoleAccess
  const enroll = '/console/tenants/acme/devices/enroll'
  async function madeBy({ post }: Awaited<ReturnType<typeof person>>) {
    const { text } = await post(`${PAGE}/tokens`, FORM)
    const ticketForm = { platform: 'linux', uses: '1', expires_in: '3600' }
    const page = await post(enroll, ticketForm)
    const [token = ''] = /sct_[\w-]{43}/.exec(text) ?? []
    const [ticket = ''] = /sdt_[\w-]{43}/.exec(page.text) ?? []
    return { token, ticket }
  }
  async function areGood({ token, ticket }: Awaited<ReturnType<typeof madeBy>>) {
    const asked = { publicKey: makeKey().publicKey, name: 'one', program: VERSION, requestId: 'r1' }
    const joins = connectors.join(token, asked).then(
      () => true,
      (error: { code?: string }) => error.code !== 'connector_token_invalid',
    )
    return [await joins, (await deviceTickets.usable(ticket, 'linux')) !== undefined]
  }
  const ends = {
    'is taken out': ({ userId }) => people.letGo(userId, 'acme', ACTOR),
    'may only look from now on': ({ userId }) => people.setRole(userId, 'acme', true, ACTOR),
    'is invited to look': ({ userId }) => giveRole(services, userId, 'acme', true),
    'loses all': ({ userId }) => people.revokeAccess(userId, ACTOR),
  } satisfies Record<string, (one: { userId: string }) => Promise<unknown>>
  for (const [name, end] of Object.entries(ends)) {
    const one = await person('acme')
    const made = await madeBy(one)
    await end(one)
    t.same(await areGood(made), [false, false], name)
  }
  const [grace, ada] = [await person('operator'), await person('acme')]
  await giveRole(services, grace.userId, 'other')
  const [ofGrace, ofAda] = [await madeBy(grace), await madeBy(ada)]
  await giveRole(services, ada.userId, '', true)
  await people.letGo(grace.userId, 'other', ACTOR)
  t.same(await areGood(ofAda), [true, true], 'who may look at more loses nothing')
  t.same(await areGood(ofGrace), [true, true], 'nor who leaves another tenant')
})
