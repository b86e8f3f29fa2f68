/** Another gateway of the fleet, whose key somebody has who says more than gateways say. */
import { createPrivateKey, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { duplexPair, type Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { createHopGuests } from '../../../gateway/connectors/hop-guests.ts'
import { HopLink } from '../../../gateway/connectors/hop-link.ts'
import type { Way } from '../../../gateway/wire/upstream-call.ts'
import { deriveCertificate } from '../../../shared/self-signed.ts'
import { CONNECTOR_ALPN } from '../../../shared/connector/handshake.ts'
import { HOPS_TOLD_MAX } from '../../../shared/connector/messages.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { openDoor } from '../../support/dialled-in.ts'
import { until } from '../../support/fleet.ts'
import { listening } from '../../support/wire.ts'

/** A clock that stands still: nothing is earned. */
const nowMs = () => 0
const MOST = LIMITS.hopWords.burst
/** As much of a TLS socket as is used of it. */
const asSocket = (stream: Duplex) => stream as unknown as TLSSocket
const turns = () => new Promise((resolve) => setTimeout(resolve, 20))

async function startGuests(
  t: Test,
  wayHere: (tenantId: string) => Way | undefined = () => undefined,
) {
  const { certificate, gatewayId } = await openDoor(t, { gatewayId: 'gateway-1' })
  const guests = createHopGuests({ gatewayId: 'gateway-2', wayHere, nowMs })
  guests.follow([
    { gateway_id: gatewayId, address: 'a:1', certificate },
    { gateway_id: 'gateway-3', address: 'a:1', certificate },
  ])
  t.teardown(() => guests.close())
  return (gateway_id = gatewayId) => {
    const [here, there] = duplexPair()
    const link = randomBytes(16).toString('base64url')
    there.resume()
    const who = { gateway_id, link, version: 1, signature: '' }
    guests.enter(asSocket(here), { kind: 'hop_control', ...who })
    const open = (hop: number) => {
      const [end, far] = duplexPair()
      far.resume()
      guests.enter(asSocket(end), { kind: 'hop', hop, tenant_id: 'acme', ...who })
      return end
    }
    return { here, there, open }
  }
}

t.test('so many words on a link, and no more', async (t) => {
  const enter = await startGuests(t)
  for (const [name, line] of [
    ['a pong', '{"say":"pong"}\n'],
    ['a later version’s', '{}\n'],
    ['none', '\n'],
  ] as const) {
    const { here, there } = enter()
    there.write(line.repeat(MOST))
    await turns()
    t.notOk(here.destroyed, name)
    there.write(line)
    await turns()
    t.ok(here.destroyed, name)
  }
})

t.test('what another gateway says of its own connections counts, and of no others', async (t) => {
  const counted: number[] = []
  const wayHere = (): Way => ({
    open(opening) {
      const [connector] = duplexPair()
      opening.onOpened(connector as unknown as Socket, (requests) => counted.push(requests))
    },
    isCrowded: () => false,
    hasRoomFor: () => true,
    roomNow: () => () => true,
  })
  const enter = await startGuests(t, wayHere)
  const { there, open } = enter()
  const other = enter()
  const tell = async (to: Duplex, ...hops: unknown[]) => {
    to.write(`${JSON.stringify({ say: 'served', hops })}\n`)
    await turns()
    return counted.splice(0)
  }
  const ends = [1, 2].map((hop) => open(hop))
  t.same(await tell(there, [1, 1]), [], 'the first one was counted when it was opened')
  t.same(await tell(there, [1, 4], [2, 2]), [3, 1])
  t.same(await tell(there, [1, 4], [1, 3], [1, 0]), [], 'nothing twice, and nothing back')
  for (const wrong of [[3, 9], [1, -1], [1, 5.5], [1, '5'], [1, 2 ** 60], [1]])
    t.same(await tell(there, wrong), [], JSON.stringify(wrong))
  t.same(await tell(other.there, [1, 9]), [], 'it has none')
  ends[1]!.destroy()
  await turns()
  t.same(await tell(there, [2, 6]), [4], 'word of what has ended comes behind its end')
  const many = Array.from({ length: HOPS_TOLD_MAX }, () => [2, 7])
  t.same(await tell(there, ...many, [2, 8]), [])
  t.same(await tell(there, ...many), [1])
  for (let hop = 3; hop < 2 + 2 * LIMITS.hopConnectionsMax; hop++) {
    open(hop).destroy()
    if (hop % 100 === 0) await turns()
  }
  await turns()
  t.same(
    await tell(there, [1, 9], [2, 9], [3, 9]),
    [5, 8],
    'the oldest that has ended is forgotten',
  )
  t.same(await tell(there, [1, Number.MAX_SAFE_INTEGER]), [1_000_000])
})

t.test('so many links of one gateway, and no more', async (t) => {
  const enter = await startGuests(t)
  const links = Array.from({ length: LIMITS.hopLinksMax + 1 }, () => enter())
  t.notOk(links.at(-2)!.here.destroyed)
  t.ok(links.at(-1)!.here.destroyed)
  t.notOk(enter('gateway-3').here.destroyed, 'which is nothing to others')
  links[0]!.here.destroy()
  await turns()
  t.notOk(enter().here.destroyed)
})

/** A gateway that says what a test wants on each link. */
async function startLink(t: Test) {
  const own = deriveCertificate('a fleet key for tests')
  const server = createServer({
    key: own.privateKeyPem,
    cert: own.certificatePem,
    minVersion: 'TLSv1.3',
    ALPNProtocols: [CONNECTOR_ALPN],
  })
  const linked = new Promise<TLSSocket>((resolve) =>
    // the first one is its control connection, those behind it ask for one to a connector
    server.on('secureConnection', (socket) => {
      t.teardown(() => socket.destroy())
      socket.on('error', () => undefined)
      const nonce = randomBytes(32).toString('base64url')
      const hello = { nonce, versions: [1], gateway_id: 'gateway-2', worker: 1, workers: 1 }
      socket.write(`${JSON.stringify(hello)}\n`)
      socket.once('data', () => {
        resolve(socket)
        server.emit('asked', socket)
      })
    }),
  )
  const port = await listening(server)
  t.teardown(() => server.close())
  const { promise: left, resolve: onLeft } = Promise.withResolvers<void>()
  const key = createPrivateKey(deriveCertificate('of another gateway').privateKeyPem)
  const { certificate } = own
  const to = { gateway_id: 'gateway-2', address: `127.0.0.1:${port}`, certificate }
  const link = new HopLink(to, { gatewayId: 'gateway-1', key, nowMs, onLeft })
  t.teardown(() => link.end())
  const socket = await linked
  return {
    link,
    server,
    socket,
    left,
    closed: new Promise<void>((resolve) => socket.once('close', resolve)),
  }
}

t.test('and at its other end', async (t) => {
  const ping = '{"say":"ping"}\n'
  for (const [line, answered] of [
    [ping, MOST],
    ['{}\n', 0],
    ['\n', 0],
    ['{"say":"retire","hop":1}\n', 0],
  ] as const) {
    const { socket, left, closed } = await startLink(t)
    let said = ''
    socket.on('data', (chunk: Buffer) => (said += String(chunk)))
    socket.write(line.repeat(MOST) + ping)
    await left
    await closed
    const pongs = said.split('"pong"').length - 1
    t.ok(pongs <= answered, `${JSON.stringify(line)}: nothing is heard behind so many`)
  }
})

t.test(
  'what its connections have answered is said with each pong, and when one ends',
  async (t) => {
    const { link, socket, server } = await startLink(t)
    let said = ''
    socket.on('data', (chunk: Buffer) => (said += String(chunk)))
    socket.write('{"say":"welcome"}\n')
    const asked = once(server, 'asked')
    const inUse = { served: 1, isPooled: true, client: undefined, retire: () => undefined }
    const opened = Promise.withResolvers<string>()
    link.open({ tenantId: 'acme', client: undefined, withinMs: 60_000 }, (answer) => {
      opened.resolve(answer)
      return inUse
    })
    const [hop] = (await asked) as [TLSSocket]
    hop.write('OK\n')
    t.equal(await opened.promise, 'opened')
    const hear = async (word: object, last: string) => {
      said = ''
      socket.write(`${JSON.stringify(word)}\n`)
      await until(() => said.endsWith(last))
      return said
    }
    const [ping, pong] = [{ say: 'ping' }, '{"say":"pong"}\n']
    const served = (count: number) => `{"say":"served","hops":[[1,${count}]]}\n`
    t.equal(await hear(ping, pong), pong, 'the first one is counted there')
    inUse.served = 3
    t.equal(await hear(ping, pong), served(3) + pong)
    t.equal(await hear(ping, pong), pong, 'and that once')
    inUse.served = 4
    t.equal(await hear({ say: 'retire', hop: 1 }, served(4)), served(4))
    inUse.served = 5
    said = ''
    hop.destroy()
    await until(() => said === served(5))
  },
)

t.test(
  'of each connection it may be said that its request is the last, whatever else is',
  async (t) => {
    const { link, socket, server, left } = await startLink(t)
    let isLeft = false
    void left.then(() => (isLeft = true))
    socket.write('{"say":"welcome"}\n')
    for (const _ of [1, 2, 3]) {
      const asked = once(server, 'asked')
      link.open({ tenantId: 'acme', client: undefined, withinMs: 60_000 }, () => undefined)
      await asked
    }
    // one was for the welcome
    socket.write('{"say":"ping"}\n'.repeat(MOST - 1))
    socket.write('{"say":"retire","hop":1}\n'.repeat(3))
    await turns()
    t.notOk(isLeft)
    socket.write('{"say":"retire","hop":1}\n')
    await left
  },
)
