/** Another gateway of the fleet, whose key somebody has who says more than gateways say. */
import { createPrivateKey, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { duplexPair, type Duplex } from 'node:stream'
import { createServer, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { createHopGuests } from '../../../gateway/connectors/hop-guests.ts'
import { HopLink } from '../../../gateway/connectors/hop-link.ts'
import { deriveCertificate } from '../../../shared/self-signed.ts'
import { CONNECTOR_ALPN } from '../../../shared/connector/handshake.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { openDoor } from '../../support/dialled-in.ts'
import { listening } from '../../support/wire.ts'

/** A clock that stands still: nothing is earned. */
const nowMs = () => 0
const MOST = LIMITS.hopWords.burst
/** As much of a TLS socket as is used of it. */
const asSocket = (stream: Duplex) => stream as unknown as TLSSocket
const turns = () => new Promise((resolve) => setTimeout(resolve, 20))

async function startGuests(t: Test) {
  const { certificate, gatewayId } = await openDoor(t, { gatewayId: 'gateway-1' })
  const guests = createHopGuests({ gatewayId: 'gateway-2', wayHere: () => undefined, nowMs })
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
    return { here, there }
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
        server.emit('asked')
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
