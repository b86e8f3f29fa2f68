/** Who dials in without being a connector of this tenant, or without being this connection's own. */
import { connect as connectTls, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import {
  CONNECTOR_ALPN,
  signHello,
  type ConnectorHello,
} from '../../../shared/connector/handshake.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  ask,
  dialIn,
  newConnectorKeys,
  openDoor,
  TENANT,
  type ConnectorKeyPair,
} from '../../support/dialled-in.ts'
import { knock, type Stranger } from '../../support/knocking.ts'
import { startOrigin } from '../../support/wire.ts'

const claimOf = (change: Partial<ConnectorHello> = {}): Omit<ConnectorHello, 'signature'> => ({
  tenant_id: TENANT,
  connector_id: 'con_1',
  key_id: 'k1',
  kind: 'control',
  version: 1,
  program: '0.0.0',
  ...change,
})

function answer(
  stranger: Pick<Stranger, 'socket' | 'hello'>,
  keys: ConnectorKeyPair,
  change: Partial<ConnectorHello> = {},
): string {
  const signed = signHello(stranger.hello, claimOf(change), stranger.socket, keys.privateKey)
  return `${JSON.stringify(signed)}\n`
}

async function withConnector(t: Test) {
  const origin = await startOrigin(t)
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  await dialIn(t, door, keys, { origin: origin.url }).until('connected')
  const isServed = async () => t.match(await ask(door.upstream), { status: 200, body: 'ok' })
  const refusals = () => door.logged.filter(({ msg }) => msg === 'a connector was refused').length
  return { door, keys, isServed, refusals }
}

t.test('who signs with another key, or for somebody else', async (t) => {
  const { door, keys, isServed, refusals } = await withConnector(t)
  const other = newConnectorKeys()
  const cases: [string, ConnectorKeyPair, Partial<ConnectorHello>][] = [
    ['another key', other, {}],
    ['another connector', keys, { connector_id: 'con_2' }],
    ['another tenant', keys, { tenant_id: 'globex' }],
    ['another key id', keys, { key_id: 'k2' }],
    ['a name of every object', keys, { connector_id: 'constructor' }],
  ]
  for (const [name, pair, change] of cases) {
    await new Promise((next) => setTimeout(next, 110)) // a flood of them is one line
    const before = refusals()
    const stranger = await knock(t, door)
    stranger.socket.write(answer(stranger, pair, change))
    await stranger.gone
    t.same(JSON.parse(stranger.said[1]!), { say: 'refused', reason: 'unknown' }, name)
    t.equal(refusals(), before + 1, 'and it is logged once')
  }
  await isServed()
})

t.test('what was signed for another connection', async (t) => {
  const { door, keys, isServed } = await withConnector(t)
  const [one, two] = [await knock(t, door), await knock(t, door)]
  const line = answer(one, keys)
  two.socket.write(line)
  await two.gone
  t.match(two.said[1], /unknown/, 'replayed')
  const three = await knock(t, door)
  // Somebody in between, who hands on what the gateway has said.
  three.socket.write(answer({ socket: one.socket, hello: three.hello }, keys))
  await three.gone
  t.match(three.said[1], /unknown/, 'relayed')
  const four = await knock(t, door)
  four.socket.write(
    answer({ socket: four.socket, hello: { ...four.hello, gateway_id: 'x' } }, keys),
  )
  await four.gone
  t.match(four.said[1], /unknown/, 'for another gateway')
  const five = await knock(t, door)
  five.socket.write(answer(five, keys, { kind: 'data' }).replace('"data"', '"control"'))
  await five.gone
  t.match(five.said[1], /unknown/, 'for another kind')
  await isServed()
})

t.test('what is no hello', async (t) => {
  const { door, keys, isServed } = await withConnector(t)
  const broken = [
    'GET / HTTP/1.1\r\n\r\n',
    '{}\n',
    'null\n',
    '[]\n',
    '\n',
    `${'x'.repeat(LIMITS.connectorHandshakeBytesMax + 1)}`,
    '{"__proto__":{"kind":"control"}}\n',
  ]
  for (const text of broken) {
    const stranger = await knock(t, door)
    stranger.socket.write(text)
    await stranger.gone
    t.equal(stranger.said.length, 1, JSON.stringify(text.slice(0, 30)))
  }
  const later = await knock(t, door)
  later.socket.write(answer(later, keys, { version: 2 }))
  await later.gone
  t.match(later.said[1], /version/)
  await isServed()
})

t.test('a hello that comes byte by byte is one', async (t) => {
  const { door, keys } = await withConnector(t)
  const stranger = await knock(t, door)
  for (const byte of Buffer.from(answer(stranger, keys))) stranger.socket.write(Buffer.of(byte))
  while (stranger.said.length < 2) await new Promise((next) => setTimeout(next, 5))
  t.match(stranger.said[1], /welcome/)
})

t.test('who says nothing has five seconds', async (t) => {
  t.equal(LIMITS.connectorHandshakeMsMax, 5000)
  const { door } = await withConnector(t)
  const setTimeoutReal = globalThis.setTimeout
  t.teardown(() => (globalThis.setTimeout = setTimeoutReal))
  globalThis.setTimeout = ((work: () => void, ms: number) =>
    setTimeoutReal(work, ms === LIMITS.connectorHandshakeMsMax ? 50 : ms)) as typeof setTimeout
  const stranger = await knock(t, door)
  globalThis.setTimeout = setTimeoutReal
  await stranger.gone
  t.equal(stranger.said.length, 1)
})

t.test('a connector that says what nobody asked for', async (t) => {
  const { door, keys, isServed } = await withConnector(t)
  const early = await knock(t, door)
  early.socket.write(`${answer(early, keys, { kind: 'data' })}HTTP/1.1 200 OK\r\n\r\n`)
  await early.gone
  const idle = await knock(t, door)
  idle.socket.write(answer(idle, keys, { kind: 'data' }))
  await new Promise((next) => setTimeout(next, 50))
  idle.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil')
  await idle.gone
  await isServed()
  const noise = await knock(t, door)
  noise.socket.write(answer(noise, keys))
  noise.socket.write('{"say":"something of later","x":1}\nthis is no JSON\n')
  await noise.gone
  t.match(noise.said[1], /welcome/)
})

t.test('no more connections than one connector may have', async (t) => {
  t.equal(LIMITS.connectorConnectionsMax, 256)
  t.equal(LIMITS.connectorMessageBytesMax, 64 * 1024)
  const { door, keys } = await withConnector(t)
  const control = await knock(t, door)
  control.socket.write(answer(control, keys))
  while (control.said.length < 2) await new Promise((next) => setTimeout(next, 5))
  control.socket.write(`{"say":"pong","x":"${'x'.repeat(LIMITS.connectorMessageBytesMax)}"}\n`)
  await control.gone
})

t.test('who is not the gateway that was named gets nothing', async (t) => {
  const [named, other] = [await openDoor(t), await openDoor(t, { gatewayId: 'gateway-2' })]
  const keys = newConnectorKeys()
  other.allow({ con_1: keys })
  const to = { address: other.address, certificate: named.certificate }
  const connector = dialIn(t, to, keys, { origin: 'http://127.0.0.1:1' })
  t.match(await connector.until('lost'), { reason: /not gateway gateway-1.*another certificate/ })
  t.same([...other.connectors.present()], [])
})

t.test('a data connection is of the key that its control connection has', async (t) => {
  const origin = await startOrigin(t)
  const door = await openDoor(t)
  const [old, now] = [newConnectorKeys(), newConnectorKeys()]
  door.allow({ con_1: now }, { con_1: old })
  await dialIn(t, door, now, { origin: origin.url }).until('connected')
  const stolen = await knock(t, door)
  stolen.socket.write(answer(stolen, old, { kind: 'data', key_id: 'k0' }))
  await stolen.gone
  t.equal(stolen.said.length, 1, 'it is never asked for anything')
})

t.test('a connector of one tenant, for another tenant that has connectors, too', async (t) => {
  const [ours, theirs] = [newConnectorKeys(), newConnectorKeys()]
  const door = await openDoor(t, { others: { globex: { con_1: theirs } } })
  door.allow({ con_1: ours })
  for (const kind of ['control', 'data'] as const) {
    const stranger = await knock(t, door)
    stranger.socket.write(answer(stranger, ours, { tenant_id: 'globex', kind }))
    await stranger.gone
    t.match(stranger.said[1], /unknown/, kind)
  }
  t.same([...door.connectors.present()], [])
})

t.test('who has not said who it is holds a place of its address, and no more', async (t) => {
  const origin = await startOrigin(t)
  const door = await openDoor(t, { connectionsMax: 12 })
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  await dialIn(t, door, keys, { origin: origin.url }).until('connected')
  t.match(await ask(door.upstream), { status: 200 })
  const flood: TLSSocket[] = []
  let closed = 0
  for (let count = 0; count < 40; count++) {
    const socket = connectTls({
      port: door.port,
      host: '127.0.0.1',
      ALPNProtocols: [CONNECTOR_ALPN],
      rejectUnauthorized: false,
    })
    socket.on('error', () => undefined).on('close', () => closed++)
    flood.push(socket)
  }
  t.teardown(() => flood.forEach((socket) => socket.destroy()))
  while (closed < 28) await new Promise((next) => setTimeout(next, 5))
  t.match(await ask(door.upstream), { status: 200 }, 'who is known goes on')
  for (const socket of flood) socket.destroy()
  while (closed < 40) await new Promise((next) => setTimeout(next, 5))
  const later = await knock(t, door)
  later.socket.write(answer(later, keys))
  while (later.said.length < 2) await new Promise((next) => setTimeout(next, 5))
  t.match(later.said[1], /welcome/, 'and the places are free again')
})

t.test('a hello that is cut off at any place is none', async (t) => {
  const { door, keys, isServed } = await withConnector(t)
  const present = () => [...door.connectors.present()].map(({ member }) => member)
  const before = present()
  const whole = answer(await knock(t, door), keys).length
  // A prime: of each field there is a part.
  for (let bytes = 0; bytes < whole; bytes += 23) {
    const stranger = await knock(t, door)
    stranger.socket.end(answer(stranger, keys).slice(0, bytes))
    await stranger.gone
    t.equal(stranger.said.length, 1, `${bytes} bytes`)
  }
  t.same(present(), before)
  await isServed()
})

t.test('an answer to OPEN that is cut off, or none of ours, is no connection', async (t) => {
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const control = await knock(t, door)
  control.socket.write(answer(control, keys))
  while (control.said.length < 2) await new Promise((next) => setTimeout(next, 5))
  /** A connection of the connector that says this behind OPEN. */
  const offer = async (onOpen: (socket: TLSSocket) => void) => {
    const { socket, ...rest } = await knock(t, door)
    socket.write(answer({ socket, ...rest }, keys, { kind: 'data' }))
    socket.once('data', () => onOpen(socket))
  }
  const good = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngood'
  const bad = [
    '',
    'O',
    'OK',
    'NO',
    'NO refused',
    'YES\n',
    'OK\r\n',
    `OK\n${good.replace('good', 'evil')}`,
  ]
  for (const text of bad) {
    const asked = ask(door.upstream)
    await offer((socket) => socket.end(text))
    await offer((socket) => {
      socket.write('OK\n')
      socket.once('data', () => socket.end(good))
    })
    t.match(await asked, { status: 200, body: 'good' }, JSON.stringify(text.slice(0, 12)))
  }
})
