import type { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { AddressTurn } from '../../../gateway/wire/address-turn.ts'
import type { Http1Server } from '../../../gateway/http1/server.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { RawClient, startWire } from '../../support/wire.ts'

/** Each `data` of `far` is one read, as a TLS record is. */
function accepted(t: Test, server: Http1Server, peerAddress: string) {
  const [near, far] = duplexPair()
  t.teardown(() => near.destroy())
  const same = () => far
  const socket = Object.assign(far, { setNoDelay: same, setTimeout: same }) as unknown as Socket
  server.accept(socket, { peerAddress })
  return { near, far }
}

t.test('a read full of requests is answered in several turns of the event loop', async (t) => {
  const REQUESTS = 3 * LIMITS.requestsPerTurnMax
  let handled = 0
  let mostInOneTurn = 0
  const { port } = await startWire(t, 'http://127.0.0.1:1', {
    decide(exchange) {
      handled++
      exchange.respond({ status: 204, headerLines: [], body: '' })
    },
  })
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(REQUESTS))
  for (let before = 0; before < REQUESTS;) {
    await turn()
    mostInOneTurn = Math.max(mostInOneTurn, handled - before)
    before = handled
  }
  t.ok(mostInOneTurn <= 2 * LIMITS.requestsPerTurnMax, `${mostInOneTurn} in one turn`)
  for (let at = 0; at < REQUESTS; at++) t.equal((await client.answer('GET'))?.status, 204)
})

t.test('all connections of a site have one turn together, and each its share of it', async (t) => {
  const CONNECTIONS = 20
  const EACH = LIMITS.requestsPerTurnMax
  const handled = new Map<string, number>()
  let inThisTurn = 0
  let mostInOneTurn = 0
  let isWatching = true
  const watch = () => {
    mostInOneTurn = Math.max(mostInOneTurn, inThisTurn)
    inThisTurn = 0
    if (isWatching) setImmediate(watch)
  }
  t.teardown(() => void (isWatching = false))
  const { server } = await startWire(t, 'http://127.0.0.1:1', {
    decide(exchange) {
      inThisTurn++
      handled.set(exchange.head.target, (handled.get(exchange.head.target) ?? 0) + 1)
      exchange.respond({ status: 204, headerLines: [], body: '' })
    },
  })
  const clients = Array.from({ length: CONNECTIONS }, (_item, at) => {
    const { near } = accepted(t, server, `2001:db8:1:${at}::1`)
    near.resume()
    return { near, target: `/${at}` }
  })
  watch()
  for (const { near, target } of clients)
    near.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(EACH))
  while ([...handled.values()].reduce((sum, count) => sum + count, 0) < CONNECTIONS * EACH)
    await turn()
  mostInOneTurn = Math.max(mostInOneTurn, inThisTurn)
  t.ok(mostInOneTurn <= 2 * LIMITS.requestsPerTurnMax, `${mostInOneTurn} in one turn`)
  for (const { target } of clients) t.equal(handled.get(target), EACH)
})

t.test('a head in reads of one byte is looked at a few times, and taken', async (t) => {
  const { server } = await startWire(t, 'http://127.0.0.1:1', {
    decide: (exchange) =>
      exchange.respond({ status: 200, headerLines: [], body: exchange.head.target }),
  })
  const { near, far } = accepted(t, server, '192.0.2.7')
  let looks = 0
  const { latin1Slice } = Buffer.prototype as unknown as { latin1Slice(...given: number[]): string }
  const prototype = Buffer.prototype as unknown as { latin1Slice: typeof latin1Slice }
  t.teardown(() => void (prototype.latin1Slice = latin1Slice))
  prototype.latin1Slice = function (this: Buffer, ...given) {
    looks++
    return latin1Slice.apply(this, given)
  }
  const head = `GET /here HTTP/1.1\r\nHost: a\r\nX-Fill: ${'x'.repeat(2000)}\r\n\r\n`
  let answer = ''
  near.on('data', (piece) => (answer += String(piece)))
  for (const byte of head) far.emit('data', Buffer.from(byte))
  while (!answer.includes('/here')) await turn()
  t.ok(looks < 50, `${looks} looks at ${head.length} reads`)
})

t.test('a long target counts as several requests, and so does a long head', async (t) => {
  const inOneTurn = (targetBytes: number, headBytes = 0, lines = 0) => {
    const address = new AddressTurn()
    let taken = 0
    for (; address.take(() => undefined); taken++) address.charge(targetBytes, headBytes, lines)
    return taken
  }
  t.equal(inOneTurn(500, 4000, 60), LIMITS.requestsPerTurnMax)
  t.equal(inOneTurn(LIMITS.targetBytesMax), Math.ceil(LIMITS.requestsPerTurnMax / 17))
  t.equal(inOneTurn(0, LIMITS.headBytesMax), Math.ceil(LIMITS.requestsPerTurnMax / 5))
  t.equal(inOneTurn(0, 0, LIMITS.headerCountMax), LIMITS.requestsPerTurnMax / 2)
})

for (const target of ['/', `/${'a'.repeat(4000)}`])
  t.test(`so it does on a connection: ${target.length} characters`, async (t) => {
    let [handled, mostInOneTurn] = [0, 0]
    const { server } = await startWire(t, 'http://127.0.0.1:1', {
      decide(exchange) {
        handled++
        exchange.respond({ status: 204, headerLines: [], body: '' })
      },
    })
    const { near } = accepted(t, server, '192.0.2.7')
    near.resume().write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(40))
    for (let before = 0; before < 40;) {
      mostInOneTurn = Math.max(mostInOneTurn, handled - before)
      before = handled
      await turn()
    }
    const most = target.length > 1 ? 2 * Math.ceil(LIMITS.requestsPerTurnMax / 8) : 40
    t.ok(mostInOneTurn <= most, `${mostInOneTurn} in one turn`)
  })

t.test('a neighbour waits for a few requests of each that came before it', async (t) => {
  const GREEDY = 20
  const address = new AddressTurn()
  let turns = 0
  let waitedTurns = 0
  const greedy = Array.from({ length: GREEDY }, () => {
    const next = () => {
      while (waitedTurns === 0 && address.take(next));
    }
    return next
  })
  const neighbour = () => {
    if (address.take(neighbour)) waitedTurns = turns
  }
  for (const next of greedy) next()
  neighbour()
  for (; waitedTurns === 0; turns++) await turn()
  const most = Math.ceil((GREEDY * LIMITS.requestsInRotation) / LIMITS.requestsPerTurnMax)
  t.ok(waitedTurns <= most, `${waitedTurns} turns`)
})

t.test('a crowd behind one address that asks one thing each turn never waits', async (t) => {
  const address = new AddressTurn()
  const refused = new Set<number>()
  for (let turns = 0; turns < 50; turns++) {
    for (let at = 0; at < LIMITS.requestsPerTurnMax / 2; at++)
      if (!address.take(() => {})) refused.add(turns)
    await turn()
  }
  t.same([...refused], [])
})

t.test('whoever sends next to nothing in each read is slowed down, with its site', async (t) => {
  const clock = { ms: 0, nowMs: () => clock.ms, steadyMs: () => clock.ms }
  const told: string[] = []
  const { server } = await startWire(t, 'http://127.0.0.1:1', {
    clock,
    limits: { smallReads: { burst: 10, perSecond: 10_000 } },
    onAbuse: (kind, address) => void told.push(`${kind} ${address}`),
    decide: (exchange) => void exchange.readBody(1 << 20).catch(() => undefined),
  })
  const open = (peerAddress: string) => {
    const { far } = accepted(t, server, peerAddress)
    const head = `POST / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(99)}\r\nContent-Length: 900000\r\n\r\n`
    const send = (piece: string, times = 1) => {
      for (; times > 0; times--) far.emit('data', Buffer.from(piece))
    }
    send(head)
    return { send, far }
  }
  const free = LIMITS.smallReadsFree + 10
  const one = open('2001:db8:1:1::1')
  const next = open('2001:db8:1:2::1')
  one.send('x', free)
  one.send('x'.repeat(LIMITS.smallReadBytes))
  one.send('x')
  t.notOk(one.far.isPaused(), 'as many as come in a larger one are free again')
  one.send('x')
  t.ok(one.far.isPaused())
  next.send('x', LIMITS.smallReadsFree + 1)
  t.ok(next.far.isPaused(), 'the site has spent what it had')
  const other = open('2001:db8:2:1::1')
  other.send('x', free)
  t.notOk(other.far.isPaused())
  clock.ms += 1
  while (one.far.isPaused() || next.far.isPaused()) await turn()
  t.same(told, [], 'and goes on when something has been earned')
  one.send('x', 30)
  t.same([one.far.destroyed, one.far.isPaused()], [false, true])
  one.send('x', LIMITS.throttledOwedMax)
  t.ok(one.far.destroyed, 'but who sends more than waits in any kernel')
  t.same(told, ['small_reads 2001:db8:1:1::1'])
  t.ok(LIMITS.smallReads.burst >= 2000)
})

t.test('a request that is small as a whole is as good as any', async (t) => {
  let handled = 0
  const { server } = await startWire(t, 'http://127.0.0.1:1', {
    limits: { smallReads: { burst: 1, perSecond: 0 } },
    decide(exchange) {
      handled++
      exchange.respond({ status: 204, headerLines: [], body: '' })
    },
  })
  const { near, far } = accepted(t, server, '192.0.2.7')
  near.resume()
  const REQUESTS = 3 * LIMITS.smallReadsFree
  for (let count = 0; count < REQUESTS; count++) {
    far.emit('data', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'))
    await turn()
  }
  while (handled < REQUESTS && !far.destroyed) await turn()
  t.equal(handled, REQUESTS)
})

t.test('whoever goes on sending behind a begun head is not read on', async (t) => {
  let handled = 0
  const { server } = await startWire(t, 'http://127.0.0.1:1', { decide: () => void handled++ })
  const { far } = accepted(t, server, '192.0.2.7')
  far.emit('data', Buffer.from('GET / HTTP/1.1\r\nHos'))
  t.equal(far.isPaused(), false)
  far.emit('data', Buffer.from(`t: a\r\n\r\n${'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1000)}`))
  t.equal(handled, 1, 'in the same turn')
  t.equal(far.isPaused(), true)
})
