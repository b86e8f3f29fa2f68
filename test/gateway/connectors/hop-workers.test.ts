/** Gateways of several workers, and more gateways than a connector dials. */
import { connect, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { alpnOf } from '../../../gateway/tls/alpn.ts'
import { dialledFor } from '../../../shared/connector/handshake.ts'
import { rendezvous } from '../../../shared/fleet/rendezvous.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  ask,
  dialIn,
  fleetOf,
  newConnectorKeys,
  openDoor,
  openFleet,
  TENANT,
  type Door,
} from '../../support/dialled-in.ts'
import { until } from '../../support/fleet.ts'
import { listening, startOrigin } from '../../support/wire.ts'

/** Of several workers: who names one of them comes to that one, all others to the first. */
async function portOfAll(t: Test, workers: readonly Door[]): Promise<string> {
  const server = createServer((socket) => {
    socket.once('data', (hello: Buffer) => {
      const wanted = dialledFor(alpnOf(hello))?.worker ?? 1
      const inside = connect(workers[wanted - 1]!.port, '127.0.0.1')
      inside.write(hello)
      socket.pipe(inside).pipe(socket)
      for (const [end, other] of [
        [socket, inside],
        [inside, socket],
      ] as const)
        end.on('error', () => undefined).on('close', () => other.destroy())
    })
  })
  t.teardown(() => server.close())
  return `127.0.0.1:${await listening(server)}`
}

const served = ({ connectors }: Door) => connectors.counts().hopsServed

t.test('who has none at one worker is asked at another one', async (t) => {
  const origin = await startOrigin(t)
  const keys = newConnectorKeys()
  const holder = { gatewayId: 'gateway-2', workers: 3 }
  const open = (worker: number) => openDoor(t, { ...holder, worker })
  const workers = [await open(1), await open(2), await open(3)] as const
  const address = await portOfAll(t, workers)
  const [one, two, three] = workers
  const [first] = (await openFleet(t, 1)) as [Door]
  const fleet = [...fleetOf([first]), { ...fleetOf([one])[0]!, address }]
  for (const door of [first, one, two, three]) door.connectors.followGateways(fleet)
  first.allow({ con_1: keys })
  three.allow({ con_1: keys })
  first.connectors.holdersAre([[TENANT, ['gateway-2']]])
  t.match(await ask(first.upstream), { failure: 'connector_absent' }, 'at none of the three')
  t.match(first.connectors.counts(), { hopsOpened: 0, hopsFailed: 1 })

  const door = { ...three, address }
  await dialIn(t, door, keys, { origin: origin.url, gatewayId: 'gateway-2' }).until('connected')
  first.connectors.holdersAre([[TENANT, ['gateway-2']]])
  t.match(await ask(first.upstream), { status: 200 }, 'at the third, which alone lets it in')
  t.equal(served(three), 1)
  t.match(await ask(first.upstream), { status: 200 })
  t.match(first.upstream.stats(), { connects: 1 }, 'and there it stays')
})

t.test(
  'of six gateways all serve, as long as one of those that connectors dial is left',
  async (t) => {
    const origin = await startOrigin(t)
    const doors = await openFleet(t, 6)
    const keys = newConnectorKeys()
    const ids = doors.map(({ gatewayId }) => gatewayId)
    const dialled = rendezvous('con_1', ids, LIMITS.connectorGatewaysMax)
    t.equal(dialled.length, 4)
    const isDialled = ({ gatewayId }: Door) => dialled.includes(gatewayId)
    const holders = doors.filter(isDialled)
    for (const door of doors) {
      door.allow({ con_1: keys })
      door.connectors.holdersAre([[TENANT, dialled]])
    }
    const { tunnel } = dialIn(t, holders[0]!, keys, { origin: origin.url, gatewayId: dialled[0]! })
    tunnel.follow(fleetOf(holders))
    const isHere = ({ connectors }: Door) => [...connectors.present()].length === 1
    await until(() => holders.every(isHere))
    for (const { upstream } of doors) t.match(await ask(upstream), { status: 200 })

    for (const holder of holders.slice(0, 3)) {
      holder.connectors.close()
      for (const socket of holder.sockets) socket.destroy()
      const others = doors.filter((door) => door === holders[3] || !isDialled(door))
      const answers = await Promise.all(others.map(({ upstream }) => ask(upstream)))
      t.same(new Set(answers.map(({ status }) => status)), new Set([200]), 'and nobody was told')
    }
  },
)
