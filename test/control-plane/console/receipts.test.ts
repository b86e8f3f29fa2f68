/** A change says how far it has come: at once, as it comes, and with what was in the way. */
import { createConsoleReceipts } from '../../../control-plane/console/receipts.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { systemClock } from '../../../shared/clock.ts'
import { ACTOR, FLEET_KEY } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'
import { until } from '../../support/fleet.ts'
import { connectRaw } from '../../support/raw-gateway.ts'

const headers = { authorization: `Bearer ${FLEET_KEY}` }

async function startWorld(t: Test) {
  const console = await startConsole(t, { clock: systemClock })
  const server = createServer()
  console.services.fleet.attach(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const { epoch } = await console.services.fleetSource.position()
  const { fleet } = console.services
  const isConnected = (id: string) =>
    fleet.gateways().some((one) => one.gateway_id === id && one.connected)
  async function gateway(id: string) {
    const link = await connectRaw(t, port, { id, epoch, webSocket: { headers } })
    await until(() => isConnected(id)) // its hello is read behind its handshake
    return link
  }
  return { ...console, gateway, epoch }
}

/** The events of a stream, one by one. */
async function* eventsOf(answer: Response) {
  const body = answer.body as unknown as AsyncIterable<Uint8Array>
  for await (const chunk of body) {
    const [, event = '', data = '{}'] =
      /event: (\w+)\ndata: (.*)\n/.exec(Buffer.from(chunk).toString()) ?? []
    yield { event, ...(JSON.parse(data) as { kind?: string; sentence?: string; lines?: string[] }) }
  }
}

void t.test('a gateway that is late is followed until it is there', async (t) => {
  const { services, app, person, gateway, epoch } = await startWorld(t)
  const late = await gateway('gateway-late')
  const grace = await person('operator')
  const answer = await grace.post('/console/tenants/acme/publish')
  t.equal(answer.status, 303)
  const { text } = await grace.get(answer.location)
  t.match(text, /Live on 0 of 1 gateways so far/)
  t.match(text, /gateway-late has not confirmed it yet/)
  t.match(text, /href="[^"]*done=[^"]*">Refresh/, 'which needs no script')
  const follow = (/data-receipt="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&')
  const stream = await app.request(
    services.baseUrl + follow,
    { headers: { cookie: grace.cookie, accept: 'text/event-stream' } },
    { address: '127.0.0.1' },
  )
  t.equal(stream.headers.get('content-type'), 'text/event-stream')
  const events = eventsOf(stream)
  t.match((await events.next()).value, { event: 'state', kind: 'waiting' })
  const revision = (await services.tenants.get('acme')).revision
  late.send({ type: 'applied', epoch, revision, is_durable: true })
  t.match((await events.next()).value, {
    kind: 'live',
    sentence: /^Live on 1 of 1 gateway in \d+\.\d s\.$/,
  })
  t.match((await events.next()).value, { event: 'end' })
  t.match(
    (await grace.get(answer.location)).text,
    /Live on 1 of 1 gateway\./,
    'and is so when looked at again',
  )
})

void t.test('what a gateway rejected is said, with its reason', async (t) => {
  const { services, person, gateway, epoch } = await startWorld(t)
  const strict = await gateway('gateway-strict')
  await strict.wait('revoked_synced')
  const grace = await person('operator')
  const answer = await grace.post('/console/tenants/acme/publish')
  const revision = (await services.tenants.get('acme')).revision
  const reason = 'its <b>certificate</b> cannot be read'
  strict.send({ type: 'rejected', tenant_id: 'acme', revision, reason })
  strict.send({ type: 'applied', epoch, revision, is_durable: true })
  await services.fleet.settled(revision, 5000)
  const { text } = await grace.get(answer.location)
  t.match(text, /Live on 0 of 1 gateways/)
  t.match(text, /gateway-strict rejected it.*its &lt;b&gt;certificate/s)
})

void t.test('without a gateway it is saved, and says when it goes out', async (t) => {
  const { person } = await startWorld(t)
  const grace = await person('operator')
  const answer = await grace.post('/console/tenants/acme/publish')
  t.match((await grace.get(answer.location)).text, /Saved\. No gateway is connected/)
})

void t.test('nobody follows the change of somebody else', async (t) => {
  const { services, person } = await startWorld(t)
  const [grace, ada] = [await person('operator'), await person('other')]
  const { proofs } = services.consoleAccess
  const note = proofs.writeNote(grace.userId, { said: 'x', tenantId: 'acme', revision: 1 })
  t.equal((await ada.get(`/console/receipt?of=${note}`)).status, 404)
})

void t.test('a revocation took as long as gateways took', async (t) => {
  const { services } = await startConsole(t)
  const startedMs = services.clock.nowMs() - 8000
  const receipts = createConsoleReceipts(services)
  const known = { applied: ['edge-1'], pending: [], notDurable: [], unreachable: [] }
  const enforced = Promise.resolve({ ...known, atMs: startedMs + 100 })
  const reader = { isOperator: true }
  const note = await receipts.noteOf(
    { kind: 'done', said: '', location: '', enforced },
    startedMs,
    reader,
  )
  t.match(receipts.stateOf(note, reader), { sentence: 'Enforced on 1 of 1 gateway in 0.1 s.' })
})

void t.test('names of gateways are for operators: a tenant sees how many they are', async (t) => {
  const { services, person, gateway } = await startWorld(t)
  const late = await gateway('rack-7.example')
  await late.wait('revoked_synced')
  const away = await gateway('rack-8.example')
  await away.wait('revoked_synced')
  away.socket.terminate()
  await until(() => services.gateways().some(({ connected }) => !connected))
  const [grace, ada] = [await person('operator'), await person('acme')]
  const ended = '/console/tenants/acme/sessions/end-all'

  await services.tenants.publish('acme', ACTOR)
  const revision = (await services.tenants.get('acme')).revision
  const reason = 'its certificate cannot be read'
  const told = { said: 'Saved.', tenantId: 'acme', revision }
  const { proofs } = services.consoleAccess
  const receipts = createConsoleReceipts(services)
  // not before it was told: what comes then is about a state of before
  await until(() => late.of('tenant').some((told) => told.revision === revision))
  late.send({ type: 'rejected', tenant_id: 'acme', revision, reason })
  await until(() => services.gateways().some(({ rejections }) => rejections.length > 0))
  t.match(receipts.stateOf(told, { isOperator: true })?.lines, [
    `rack-7.example rejected it and keeps its previous state: ${reason}`,
    'rack-8.example is offline; it gets the latest state when it reconnects',
  ])
  t.match(receipts.stateOf(told, { isOperator: false })?.lines, [
    `One gateway rejected it and keeps its previous state: ${reason}`,
    'One gateway is offline; it gets the latest state when it reconnects',
  ])

  for (const [who, isNamed] of [
    [grace, true],
    [ada, false],
  ] as const) {
    const note = proofs.writeNote(who.userId, told)
    const page = await who.get(`/console/tenants/acme?done=${note}`)
    t.equal(/rack-[78]/.test(page.text), isNamed, 'a change')
    const answer = await who.post(ended)
    t.equal(answer.status, 303)
    const { text } = await who.get(answer.location)
    t.match(text, /Enforced on 0 of 1 gateways so far/)
    t.equal(/rack-[78]/.test(text), isNamed, 'sessions that have ended')
    const given = new URL(answer.location, services.baseUrl).searchParams.get('done') ?? ''
    const carried = Buffer.from(given.split('.')[0] ?? '', 'base64url').toString()
    t.equal(/rack-[78]/.test(carried), isNamed, 'nor does the address carry them')
  }

  const event = { tenant_id: 'acme', outcome: 'sealed', app_host: 'acme.localhost' }
  await services.enforcement.receive('rack-7.example', [event])
  t.match((await grace.get('/console/tenants/acme/events')).text, /rack-7/)
  const events = (await ada.get('/console/tenants/acme/events')).text
  t.match(events, /acme\.localhost/)
  t.notMatch(events, /rack-7/)
})
