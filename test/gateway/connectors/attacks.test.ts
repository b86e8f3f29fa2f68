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

async function withConnector(t: Test, others: Record<string, ConnectorKeyPair> = {}) {
  const origin = await startOrigin(t)
  const door = await openDoor(t, { others: { globex: others }, gatherMs: 0 })
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  await dialIn(t, door, keys, { origin: origin.url }).until('connected')
  const isServed = async () => t.match(await ask(door.upstream), { status: 200, body: 'ok' })
  const refusals = () => door.logged.filter(({ msg }) => msg === 'a connector was refused')
  /** What has been attacked has come to an end: it is refused, in one line. */
  const isLogged = (expected: object, name: string) => {
    const before = refusals().length
    return async () => {
      while (refusals().length === before) await new Promise((next) => setTimeout(next, 1))
      t.match(refusals().slice(before), [{ ...expected, refused: 1, client: '127.0.0.1' }], name)
    }
  }
  /** No attack has left a line more. */
  const areLogged = (count: number) => {
    door.connectors.close()
    t.equal(refusals().length, count, 'each is logged once')
  }
  return { door, keys, isServed, isLogged, areLogged }
}

t.test('who signs with another key, or for somebody else', async (t) => {
  const others = { con_9: newConnectorKeys() }
  const { door, keys, isServed, isLogged, areLogged } = await withConnector(t, others)
  const cases: [string, ConnectorKeyPair, Partial<ConnectorHello>, string][] = [
    ['another key', newConnectorKeys(), {}, 'signature'],
    ['another connector', keys, { connector_id: 'con_2' }, 'unknown'],
    ['a tenant that is none', keys, { tenant_id: 'initech' }, 'unknown'],
    ['a tenant with other connectors', keys, { tenant_id: 'globex' }, 'unknown'],
    ['their connector', keys, { tenant_id: 'globex', connector_id: 'con_9' }, 'signature'],
    ['another key id', keys, { key_id: 'k2' }, 'unknown'],
    ['a name of every object', keys, { connector_id: 'constructor' }, 'unknown'],
  ]
  for (const [name, pair, change, reason] of cases)
    for (const kind of ['control', 'data'] as const) {
      const stranger = await knock(t, door)
      const claim = claimOf({ ...change, kind })
      const { tenant_id, connector_id } = claim
      const logged = isLogged({ reason, tenant_id, connector_id }, name)
      stranger.socket.write(answer(stranger, pair, claim))
      await stranger.gone
      t.same(JSON.parse(stranger.said[1]!), { say: 'refused', reason: 'unknown' }, name)
      await logged()
    }
  t.equal([...door.connectors.present()].length, 1)
  await isServed()
  areLogged(2 * cases.length)
})

t.test('what was signed for another connection', async (t) => {
  const { door, keys, isServed, isLogged, areLogged } = await withConnector(t)
  const one = await knock(t, door)
  const replayed = answer(one, keys)
  const cases: [string, (to: Stranger) => string][] = [
    ['replayed', () => replayed],
    // Somebody in between, who hands on what the gateway has said.
    ['relayed', ({ hello }) => answer({ socket: one.socket, hello }, keys)],
    [
      'for another gateway',
      ({ socket, hello }) => answer({ socket, hello: { ...hello, gateway_id: 'x' } }, keys),
    ],
    ['for another kind', (to) => answer(to, keys, { kind: 'data' }).replace('"data"', '"control"')],
  ]
  for (const [name, line] of cases) {
    const stranger = await knock(t, door)
    const logged = isLogged({ reason: 'signature' }, name)
    stranger.socket.write(line(stranger))
    await stranger.gone
    t.match(stranger.said[1], /unknown/, name)
    await logged()
  }
  await isServed()
  areLogged(cases.length)
})

t.test('who has been revoked and comes back', async (t) => {
  const { door, keys, isServed, isLogged, areLogged } = await withConnector(t)
  const [stays, goes] = [keys, newConnectorKeys()]
  door.allow({ con_1: stays, con_2: goes })
  const revoked = await knock(t, door)
  revoked.socket.write(answer(revoked, goes, { connector_id: 'con_2' }))
  while (revoked.said.length < 2) await new Promise((next) => setTimeout(next, 1))
  door.allow({ con_1: stays })
  await revoked.gone
  t.same(JSON.parse(revoked.said.at(-1)!), { say: 'refused', reason: 'revoked' })
  t.match(
    door.logged
      .filter(({ connector_id: id }) => id === 'con_2')
      .map(({ msg, reason }) => [msg, reason]),
    [['a connector is here'], ['a connector was cut off', 'revoked']],
    'and in the log it has not just left',
  )
  const back = await knock(t, door)
  const logged = isLogged({ reason: 'unknown', connector_id: 'con_2' }, 'is back')
  back.socket.write(answer(back, goes, { connector_id: 'con_2' }))
  await back.gone
  await logged()
  await isServed()
  areLogged(1)
})

t.test('many at once are one line for each reason, with their number', async (t) => {
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  for (let count = 0; count < 5; count++) {
    const stranger = await knock(t, door)
    stranger.socket.write(count < 2 ? 'no hello\n' : answer(stranger, newConnectorKeys()))
    await stranger.gone
  }
  t.same(door.logged, [], 'not yet')
  door.connectors.close()
  t.match(door.logged, [
    { reason: 'malformed', refused: 2 },
    { reason: 'signature', refused: 3, tenant_id: TENANT, connector_id: 'con_1' },
  ])
  t.equal(door.logged.length, 2)
})

t.test('what is no hello', async (t) => {
  const { door, keys, isServed, isLogged, areLogged } = await withConnector(t)
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
    const name = JSON.stringify(text.slice(0, 30))
    const stranger = await knock(t, door)
    const logged = isLogged({ reason: 'malformed' }, name)
    stranger.socket.write(text)
    await stranger.gone
    t.equal(stranger.said.length, 1, name)
    await logged()
  }
  const later = await knock(t, door)
  const logged = isLogged({ reason: 'version' }, 'a later version')
  later.socket.write(answer(later, keys, { version: 2 }))
  await later.gone
  t.match(later.said[1], /version/)
  await logged()
  await isServed()
  areLogged(broken.length + 1)
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
  const { door, isLogged, areLogged } = await withConnector(t)
  const setTimeoutReal = globalThis.setTimeout
  t.teardown(() => (globalThis.setTimeout = setTimeoutReal))
  globalThis.setTimeout = ((work: () => void, ms: number) =>
    setTimeoutReal(work, ms === LIMITS.connectorHandshakeMsMax ? 50 : ms)) as typeof setTimeout
  // its time may be over before it has heard a word
  const logged = isLogged({ reason: 'timeout' }, 'no word')
  const stranger = await knock(t, door)
  globalThis.setTimeout = setTimeoutReal
  await stranger.gone
  t.equal(stranger.said.length, 1)
  await logged()
  areLogged(1)
})

t.test('a connector that says what nobody asked for', async (t) => {
  const { door, keys, isServed, isLogged, areLogged } = await withConnector(t)
  const unasked = { reason: 'unasked', tenant_id: TENANT, connector_id: 'con_1' }
  const evil = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'
  for (const kind of ['data', 'control'] as const) {
    const early = await knock(t, door)
    const logged = isLogged(unasked, 'behind its hello')
    early.socket.write(`${answer(early, keys, { kind })}${evil}`)
    await early.gone
    await logged()
  }
  // One that gives nothing but what this test has it give.
  const idler = newConnectorKeys()
  door.allow({ con_1: keys, con_2: idler })
  const control = await knock(t, door)
  control.socket.write(answer(control, idler, { connector_id: 'con_2' }))
  while (control.said.length < 2) await new Promise((next) => setTimeout(next, 1))
  const member = [...door.connectors.present()].find(
    (found) => found.member.connectorId === 'con_2',
  )!.member
  member.want(1)
  const idle = await knock(t, door)
  idle.socket.write(answer(idle, idler, { connector_id: 'con_2', kind: 'data' }))
  while (member.spares === 0) await new Promise((next) => setTimeout(next, 1))
  const logged = isLogged({ ...unasked, connector_id: 'con_2' }, 'before OPEN')
  idle.socket.write(evil)
  await idle.gone
  await logged()
  control.socket.destroy()
  await isServed()
  areLogged(3)
})

t.test('words of later versions are passed over', async (t) => {
  const { door, keys } = await withConnector(t)
  const noise = await knock(t, door)
  noise.socket.write(answer(noise, keys))
  while (noise.said.length < 2) await new Promise((next) => setTimeout(next, 1))
  t.match(noise.said[1], /welcome/)
  noise.socket.write('{"say":"something of later","x":1}\nthis is no JSON\n')
  await noise.gone
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
  // what is closed here is not closed at the gateway yet
  let later: Stranger | undefined
  while (later === undefined) later = await knock(t, door).catch(() => undefined)
  later.socket.write(answer(later, keys))
  while (later.said.length < 2) await new Promise((next) => setTimeout(next, 5))
  t.match(later.said[1], /welcome/, 'and the places are free again')
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
