/** Handshakes of many at once: who has the next turn, and how many an address may begin. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { HOST, OTHER_HOST, startSecureWire, type SecureWire } from '../../support/secure-wire.ts'
import { listening, startOrigin } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

/** As many connections to somebody who accepts them, and leaves it to the test to hand them on. */
async function connected(t: Test, wire: SecureWire, names: readonly string[]) {
  const accepted: Socket[] = []
  const holder = createServer((socket) => void accepted.push(socket))
  const port = await listening(holder)
  t.teardown(() => holder.close())
  const clients = []
  for (const servername of names) {
    const client = wire.tls({ port, servername })
    clients.push(client)
    const isThere = () => (accepted[clients.length - 1]?.readableLength ?? 0) > 0
    while (!isThere()) await turn()
  }
  return { clients, accepted }
}

async function silent(t: Test): Promise<Socket> {
  const holder = createServer()
  const client = connect(await listening(holder), '127.0.0.1')
  client.on('error', () => undefined)
  const [accepted] = (await once(holder, 'connection')) as [Socket]
  t.teardown(() => {
    client.destroy()
    accepted.destroy()
    holder.close()
  })
  return accepted
}

t.test('a site with many handshakes waits for its next while others have theirs', async (t) => {
  const wire = await startSecureWire(t, 'http://127.0.0.1:1')
  const MANY = 8
  const names = [...Array<string>(MANY).fill(HOST), OTHER_HOST]
  const { clients, accepted } = await connected(t, wire, names)
  const secure = Promise.all(clients.map((client) => once(client, 'secureConnect')))
  const other = accepted.pop()!
  for (const [at, socket] of accepted.entries())
    wire.front.accept(socket, { peerAddress: `2001:db8:1:${at}::1` })
  wire.front.accept(other, { peerAddress: '192.0.2.2' })
  await secure
  t.equal(wire.asked.length, MANY + 1)
  t.equal(wire.asked[1], OTHER_HOST)
})

t.test('an address begins no more handshakes than its budget, but balancers', async (t) => {
  let nowMs = 0
  const wire = await startSecureWire(t, 'http://127.0.0.1:1', {
    clock: clockOf(() => nowMs),
    connectionsMax: 1,
    front: {
      handshakesPerAddress: { burst: 2, perSecond: 1 },
      isExempt: (address) => ['192.0.2.9', '2001:db8:1:9::1'].includes(address),
    },
  })
  const visit = async (address: string) => {
    const { clients, accepted } = await connected(t, wire, [HOST])
    const client = clients[0]!
    const isSecure = new Promise((resolve) => {
      client.once('secureConnect', () => resolve(true)).once('close', () => resolve(false))
    })
    wire.front.accept(accepted[0]!, { peerAddress: address })
    const found = await isSecure
    client.destroy()
    while (wire.addresses.of(address) > 0) await turn()
    return found
  }
  t.same([await visit('192.0.2.1'), await visit('192.0.2.1')], [true, true])
  t.equal(await visit('192.0.2.1'), false, 'though it has no connection any more')
  t.equal(await visit('192.0.2.2'), true, 'which is nobody else’s')
  for (let count = 0; count < 4; count++) t.equal(await visit('192.0.2.9'), true, 'a balancer')
  t.same([await visit('2001:db8:1:1::1'), await visit('2001:db8:1:1::2')], [true, true])
  t.equal(await visit('2001:db8:1:1::3'), false, 'a network is one, with all of its addresses')
  t.equal(await visit('2001:db8:1:9::1'), true, 'a balancer of its site')
  t.equal(await visit('2001:db8:2:1::1'), true)
  const accepted = await silent(t)
  wire.front.accept(accepted, { peerAddress: '192.0.2.1' })
  t.ok(accepted.destroyed, 'before it has said anything')
  t.equal(wire.addresses.of('192.0.2.1'), 0)
  wire.addresses.enter('192.0.2.1')
  let isEnded = false
  const idling = { idleSinceMs: 0, destroy: () => void (isEnded = true) }
  wire.addresses.hold('192.0.2.1', idling)
  wire.front.accept(await silent(t), { peerAddress: '192.0.2.1' })
  t.notOk(isEnded, 'and nobody makes room for it')
  wire.addresses.leave('192.0.2.1', idling)
  nowMs += 1000
  t.same([await visit('192.0.2.1'), await visit('192.0.2.1')], [true, false])
  t.equal(wire.front.handshakes(), 0)
  t.ok(LIMITS.handshakesPerAddress.burst >= 400, 'what an office has when all come back at once')
})

t.test(
  'a site that has spent its handshakes waits for more, and its networks take turns',
  async (t) => {
    let nowMs = 0
    const wire = await startSecureWire(t, 'http://127.0.0.1:1', {
      clock: clockOf(() => nowMs),
      front: { handshakesPerAddress: { burst: 3, perSecond: 1 } },
    })
    const begun: string[] = []
    const greedy = '2001:db8:1:1::1'
    const who = [greedy, greedy, greedy, '2001:db8:1:2::1', '2001:db8:1:3::1', '2001:db8:2::1']
    const { clients, accepted } = await connected(
      t,
      wire,
      who.map(() => HOST),
    )
    for (const [at, client] of clients.entries())
      client.once('secureConnect', () => void begun.push(who[at]!))
    for (const [at, socket] of accepted.entries())
      wire.front.accept(socket, { peerAddress: who[at]! })
    while (begun.length < 4) await turn()
    t.ok(begun.includes('2001:db8:2::1'), 'another site does not wait for it')
    t.equal(
      begun.filter((address) => address === greedy).length,
      1,
      'each of the three has had one',
    )
    // TLS 1.3: the client is ready before the server has heard the last of it.
    while (wire.front.handshakes() > 2) await turn()
    t.equal(wire.front.handshakes(), 2, 'nobody is refused')
    for (const more of [1, 2]) {
      nowMs += 1000
      while (begun.length < 4 + more) await turn()
    }
    while (wire.front.handshakes() > 0) await turn()
    t.equal(begun.length, who.length)
    const late = await silent(t)
    wire.front.accept(late, { peerAddress: greedy })
    t.notOk(late.destroyed, 'a network that has some left may wait with the others')
  },
)

t.test('whoever finds the certificate is told who asks for it', async (t) => {
  const asked: string[] = []
  const origin = await startOrigin(t)
  const contextFor = (host: string, peerAddress: string) => {
    asked.push(`${host} ${peerAddress}`)
    return wire.certificates.get(host)?.context
  }
  const wire = await startSecureWire(t, origin.url, { front: { contextFor } })
  const socket = wire.tls()
  await once(socket, 'secureConnect')
  socket.destroy()
  t.same(asked, [`${HOST} 127.0.0.1`])
})
