/** What a connector's connections are to many clients: none of them has all, nor keeps others waiting. */
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import type { InUse, ResponseSink } from '../../../gateway/wire/upstream-call.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startConnectedEdge } from '../../support/connected-edge.ts'
import { dialIn, newConnectorKeys, openDoor, TENANT } from '../../support/dialled-in.ts'
import { HOST } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { startWebSocketApplication } from '../../support/websockets.ts'
import { startOrigin } from '../../support/wire.ts'

const { connectorConnectionsMax: most } = LIMITS
const ignore = () => undefined

async function start(t: Test) {
  /** Requests that are being served, each answered when the test says so. */
  const served = new Map<string, (() => void)[]>()
  const origin = await startOrigin(t, (request, response) => {
    const who = request.url!.slice(1)
    served.set(who, [...(served.get(who) ?? []), () => response.end('ok')])
  })
  const keys = newConnectorKeys()
  const door = await openDoor(t, { connectMs: 60_000 })
  door.allow({ con_1: keys })
  await dialIn(t, door, keys, { origin: origin.url }).until('connected')
  const ended: string[] = []
  const ask = (client: string, who: string, method = 'GET') => {
    const sink: ResponseSink = {
      wantsRawChunks: false,
      onInformational: ignore,
      onHead: ignore,
      onData: ignore,
      onText: ignore,
      onReadEnd: ignore,
      onEnd: () => ended.push(who),
      onError: ({ code }) => ended.push(`${who} ${code}`),
      onDrain: ignore,
    }
    const framing = { bodyLength: 0, hasLength: false, firstBody: '', isBodyWhole: true }
    const asked = { method, target: `/${who}`, client, lines: 'Host: a\r\n', isRawChunked: false }
    return door.upstream.request({ ...asked, ...framing }, sink)
  }
  const countOf = (who: string) => served.get(who)?.length ?? 0
  const answer = (who: string) => {
    for (const one of served.get(who) ?? []) one()
    served.delete(who)
  }
  return { door, ask, countOf, answer, ended, way: door.connectors.wayTo(TENANT) }
}

t.test('one client has half of them, and whoever comes next is served at once', async (t) => {
  const { ask, countOf, answer, ended, way } = await start(t)
  for (let count = 0; count < 2 * most; count++) ask('192.0.2.1', 'eve')
  await until(() => countOf('eve') === most / 2)
  ask('192.0.2.2', 'ada')
  await until(() => countOf('ada') === 1)
  t.equal(countOf('eve'), most / 2, 'it has no more')
  t.notOk(way.hasRoomFor('192.0.2.1'))
  t.ok(way.hasRoomFor('192.0.2.2'))
  answer('eve')
  await until(() => countOf('eve') >= most / 4)
  t.equal(ended.filter((who) => who === 'eve').length, most / 2, 'it has the next ones in its turn')
})

t.test('what is kept for later makes room for what is wanted now', async (t) => {
  const { door, way } = await start(t)
  const kept: InUse[] = []
  let retired = 0
  const open = (isPooled: boolean) =>
    way.open({
      ...(!isPooled && { client: '192.0.2.2' }),
      isWanted: () => true,
      onOpened(socket) {
        const retire = () => {
          retired++
          socket.destroy()
        }
        const client = isPooled ? undefined : '192.0.2.2'
        const inUse = { served: 0, isPooled, client, retire }
        kept.push(inUse)
        return inUse
      },
      onFailed: ignore,
    })
  for (let count = 0; count < most; count++) open(true)
  await until(() => kept.length === most)
  for (const { member } of door.connectors.present())
    t.equal(member.connections, most, 'there is no place left')
  open(false)
  await until(() => kept.length === most + 1)
  t.equal(kept.at(-1)!.isPooled, false)
  t.ok(retired > 0)
})

t.test('a client’s WebSockets count with the rest', async (t) => {
  const application = await startWebSocketApplication(t)
  const { edge, dialled } = await startConnectedEdge(
    t,
    { excluded: ['/'] },
    { connect: 60_000, first_byte: 60_000 },
  )
  await dialled(application.url).until('connected')
  const answers = { opened: 0, refused: 0 }
  const upgrade = (localAddress: string) =>
    new Promise<number>((resolve) => {
      const socket = connect({ host: '127.0.0.1', port: edge.port, localAddress })
      t.teardown(() => socket.destroy())
      socket.on('error', ignore).once('data', (head) => resolve(Number(String(head).slice(9, 12))))
      socket.write(
        `GET /socket HTTP/1.1\r\nHost: ${HOST}:${edge.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      )
    })
  const all = Array.from({ length: most + 20 }, () => upgrade('127.0.0.1'))
  for (const status of await Promise.all(all)) answers[status === 101 ? 'opened' : 'refused']++
  t.ok(answers.refused >= most / 2, `${answers.opened}`)
  t.ok(answers.opened > 0)
  t.equal(await upgrade('127.0.0.2'), 101, 'somebody else has theirs')
})
