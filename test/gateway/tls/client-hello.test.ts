/** Where a ClientHello ends, and that no handshake is begun before. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { measureClientHello } from '../../../gateway/tls/client-hello.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { clientHelloFor, HOST, startSecureWire } from '../../support/secure-wire.ts'

const MESSAGE_HEADER_BYTES = 4

const record = (payload: Buffer, type = 22) =>
  Buffer.concat([Buffer.from([type, 3, 1, payload.length >> 8, payload.length & 255]), payload])
const message = (bytes: number, type = 1) =>
  Buffer.concat([
    Buffer.from([type, bytes >> 16, (bytes >> 8) & 255, bytes & 255]),
    Buffer.alloc(bytes),
  ])
/** The same message, in records of so many bytes. */
const inRecords = (payload: Buffer, bytes: number) =>
  Buffer.concat(
    Array.from({ length: Math.ceil(payload.length / bytes) }, (_item, at) =>
      record(payload.subarray(at * bytes, (at + 1) * bytes)),
    ),
  )

t.test('a ClientHello is whole with the last byte of its message', async (t) => {
  const real = await clientHelloFor(HOST)
  for (const [name, whole] of [
    ['a real one', real],
    ['in records of 100 bytes', inRecords(real.subarray(5), 100)],
    ['in small records', inRecords(message(300), 5)],
    [
      'in as many as it may',
      inRecords(message(2 * LIMITS.clientHelloRecordsMax - MESSAGE_HEADER_BYTES), 2),
    ],
    ['of no byte', record(message(0))],
  ] as const) {
    t.equal(measureClientHello(whole), 'whole', name)
    for (let bytes = 0; bytes < whole.length; bytes++) {
      const wanted = measureClientHello(whole.subarray(0, bytes))
      if (typeof wanted === 'number' && wanted > bytes && wanted <= whole.length) continue
      t.fail(`${name}: ${wanted} after ${bytes} of ${whole.length} bytes`)
    }
  }
  for (const [name, bytes] of [
    ['another record', record(Buffer.from([1, 0]), 21)],
    [
      'another record behind its first',
      Buffer.concat([record(message(9).subarray(0, 3)), record(Buffer.from([1, 0]), 21)]),
    ],
    ['another message', record(message(9, 2))],
    ['a record of nothing', record(Buffer.alloc(0))],
    ['a record that is too long', Buffer.from([22, 3, 1, 64, 1])],
    ['text', Buffer.from('GET / HTTP/1.1')],
    ['SSL 2', Buffer.from([0x80, 0x2e, 1, 3, 1])],
    ['in more', inRecords(message(2 * LIMITS.clientHelloRecordsMax - 3), 2)],
    ['more than the limit', inRecords(message(LIMITS.clientHelloBytesMax), 1000)],
  ] as const)
    t.equal(measureClientHello(bytes), 'other', name)
})

async function silent(t: Test, port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

for (const [name, split] of [
  ['all of it', (hello: Buffer) => [hello.subarray(0, 0), hello]],
  ['all but its first byte', (hello: Buffer) => [hello.subarray(0, 1), hello.subarray(1)]],
  ['its last byte', (hello: Buffer) => [hello.subarray(0, -1), hello.subarray(-1)]],
  [
    'its second record',
    (hello: Buffer) => [record(hello.subarray(5, 105)), record(hello.subarray(105))],
  ],
] as const)
  t.test(`many who hold back ${name} have one turn each when it comes`, async (t) => {
    const CLIENTS = 12
    const wire = await startSecureWire(t, 'http://127.0.0.1:1')
    const [early, late] = split(await clientHelloFor(HOST))
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => silent(t, wire.port)))
    for (const client of clients) if (early!.length > 0) client.write(early!)
    while (wire.front.handshakes() < CLIENTS) await turn()
    for (let count = 0; count < 3 * CLIENTS; count++) await turn()
    t.equal(wire.asked.length, 0)
    for (const client of clients) client.write(late!)
    let mostInOneTurn = 0
    for (let before = 0; before < CLIENTS;) {
      await turn()
      mostInOneTurn = Math.max(mostInOneTurn, wire.asked.length - before)
      before = wire.asked.length
    }
    t.equal(mostInOneTurn, 1)
  })

t.test('who never says all of it is counted, and closed at the deadline', async (t) => {
  const wire = await startSecureWire(t, 'http://127.0.0.1:1', { timeouts: { headMs: 300 } })
  const hello = await clientHelloFor(HOST)
  for (const bytes of [0, 1, hello.length - 1]) {
    const client = await silent(t, wire.port)
    if (bytes > 0) client.write(hello.subarray(0, bytes))
    while (wire.addresses.of('127.0.0.1') === 0) await turn()
    t.equal(wire.front.handshakes(), 1)
    await once(client.resume(), 'close')
    while (wire.addresses.of('127.0.0.1') > 0) await turn()
    t.equal(wire.front.handshakes(), 0)
  }
  t.same(wire.failures, Array(3).fill('ERR_TLS_HANDSHAKE_TIMEOUT'))
})

t.test('who ends before all of it has left', async (t) => {
  const wire = await startSecureWire(t, 'http://127.0.0.1:1', { timeouts: { headMs: 600_000 } })
  const hello = await clientHelloFor(HOST)
  for (const bytes of [0, 1, hello.length - 1]) {
    const client = await silent(t, wire.port)
    client.end(hello.subarray(0, bytes))
    await once(client.resume(), 'close')
    await wire.front.settled()
    t.equal(wire.addresses.of('127.0.0.1'), 0)
  }
})
