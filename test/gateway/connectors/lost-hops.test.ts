/** What becomes of a request on its way over another gateway that is lost, silent or slow. */
import { connect, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { ask, fleetOf, startHops, TENANT } from '../../support/dialled-in.ts'
import { listening, startOrigin, startRawOrigin } from '../../support/wire.ts'

type Fleet = ReturnType<typeof fleetOf>[number]

/** No gateway here is given up for one that was only slow: what comes to that is another test. */
function waitLonger(t: Test): void {
  const { connectorAnswerMsMax: soonMs } = LIMITS
  const real = globalThis.setTimeout
  t.teardown(() => (globalThis.setTimeout = real))
  globalThis.setTimeout = ((work: () => void, ms: number) =>
    real(work, ms === soonMs ? 60 * soonMs : ms)) as typeof setTimeout
}

t.test('a connection that is lost on its way is dialled again', async (t) => {
  const origin = await startOrigin(t)
  const { doors, first, holder } = await startHops(t, origin.url)
  let connections = 0
  const between = createServer((socket) => {
    connections++
    // The first one is the link's.
    if (connections > 1 && connections < 5) return socket.destroy()
    const onward = connect(holder.port, '127.0.0.1')
    for (const end of [socket, onward]) end.on('error', () => end.destroy())
    t.teardown(() => onward.destroy())
    socket.pipe(onward).pipe(socket)
  })
  const port = await listening(between)
  t.teardown(() => between.close())
  const [one, two] = fleetOf(doors) as [Fleet, Fleet]
  first.connectors.followGateways([one, { ...two, address: `127.0.0.1:${port}` }])
  t.match(await ask(first.upstream), { status: 200 })
  t.equal(connections, 5)
})

t.test('a gateway that did not answer is asked last for a while', async (t) => {
  t.equal(LIMITS.hopLostMs, 5000)
  waitLonger(t)
  const origin = await startOrigin(t, (_request, response) =>
    response.setHeader('Connection', 'close').end('ok'),
  )
  const clock = movableClock()
  const { doors, first } = await startHops(t, origin.url, 3, { clock })
  let connections = 0
  const { port } = await startRawOrigin(t, (socket) => {
    connections++
    socket.destroy()
  })
  const [one, two, three] = fleetOf(doors) as [Fleet, Fleet, Fleet]
  first.connectors.followGateways([one, { ...two, address: `127.0.0.1:${port}` }, three])
  first.connectors.holdersAre([[TENANT, ['gateway-2', 'gateway-3']]])
  for (let count = 0; count < 8; count++) t.match(await ask(first.upstream), { status: 200 })
  t.equal(connections, 1)
  clock.advance(LIMITS.hopLostMs)
  for (let count = 0; count < 8; count++) t.match(await ask(first.upstream), { status: 200 })
  t.equal(connections, 2, 'and then as before')
})

t.test('a gateway that was only slow is asked once more when nobody else has it', async (t) => {
  const origin = await startOrigin(t)
  const { doors, first, holder } = await startHops(t, origin.url, 3)
  let connections = 0
  const slow = createServer((socket) => {
    connections++
    const onward = connect(holder.port, '127.0.0.1')
    for (const end of [socket, onward]) end.on('error', () => end.destroy())
    t.teardown(() => onward.destroy())
    setTimeout(() => socket.pipe(onward).pipe(socket), 1.5 * LIMITS.connectorAnswerMsMax)
  })
  const port = await listening(slow)
  t.teardown(() => slow.close())
  const [one, two, three] = fleetOf(doors) as [Fleet, Fleet, Fleet]
  first.connectors.followGateways([one, two, { ...three, address: `127.0.0.1:${port}` }])
  first.connectors.holdersAre([[TENANT, ['gateway-3', 'gateway-2']]])
  t.match(await ask(first.upstream), { status: 200 })
  t.ok(connections >= 2, 'it was given up first')
})
