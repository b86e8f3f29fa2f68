/**
 * A body that trickles holds a place at the application: it has to come at the least pace of any
 * line, over each idle time, on both protocols.
 */
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { Deadlines } from '../../gateway/wire/deadlines.ts'
import { LIMITS } from '../../shared/limits.ts'
import { HOST, startSecureWire } from '../support/secure-wire.ts'
import { RawClient, startRawOrigin, startWire } from '../support/wire.ts'
import { clockOf } from '../support/clocks.ts'

const IDLE_MS = 60_000
const LEAST_BYTES = (LIMITS.progressBytesPerSecondMin * IDLE_MS) / 1000
const BODY_BYTES = 1_000_000
const SECOND_MS = 1000
const timeouts = { headMs: IDLE_MS, idleMs: IDLE_MS, keepAliveMs: IDLE_MS }
const tick = () => new Promise((next) => setImmediate(next))

interface Upload {
  send(bytes: number): void
  readonly isCut: () => boolean
}

type Start = (t: Test, answerFirst: string, more?: string) => Promise<UploadWorld>

interface UploadWorld {
  readonly upload: Upload
  /** Of the body, at the application. */
  readonly received: () => number
  readonly sockets: () => number
  /** Time passes, and the sweep looks at everything. */
  pass(ms: number): void
}

async function startTrickled(t: Test, answerFirst: string) {
  let received = 0
  const origin = await startRawOrigin(t, (socket: Socket) => {
    let isBody = false
    socket.on('data', (chunk) => {
      received += isBody ? chunk.length : chunk.length - chunk.indexOf('\r\n\r\n') - 4
      if (!isBody) socket.write(answerFirst)
      isBody = true
    })
  })
  let nowMs = 1_800_000_000_000
  const clock = clockOf(() => nowMs)
  const pass = (ms: number) => void (nowMs += ms)
  return { origin, clock, pass, received: () => received }
}

const startHttp1: Start = async (t, answerFirst) => {
  const { origin, clock, pass, received } = await startTrickled(t, answerFirst)
  const deadlines = new Deadlines(clock, 2 ** 30)
  const { port, upstream } = await startWire(t, origin.url, { clock, deadlines, timeouts })
  const client = new RawClient(port)
  t.teardown(() => client.close())
  let isCut = false
  void client.closed.then(() => (isCut = true))
  client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`)
  return {
    upload: {
      send: (bytes) => void client.send('x'.repeat(bytes)),
      isCut: () => isCut || client.received.startsWith('HTTP/1.1 408 '),
    },
    received,
    sockets: () => upstream.stats().sockets,
    pass: (ms) => (pass(ms), deadlines.sweep()),
  }
}

const startHttp2: Start = async (t, answerFirst) => {
  const { origin, clock, pass, received } = await startTrickled(t, answerFirst)
  const wire = await startSecureWire(t, origin.url, { clock, timeouts, sweepMs: 2 ** 30 })
  const stream = wire.http2Client().request({
    ':method': 'POST',
    ':authority': HOST,
    'content-length': BODY_BYTES,
  })
  let isCut = false
  stream
    .on('error', () => undefined)
    .on('response', (headers) => (isCut = headers[':status'] === 408))
    .on('close', () => (isCut = true))
    .resume()
  return {
    upload: { send: (bytes) => void stream.write('x'.repeat(bytes)), isCut: () => isCut },
    received,
    sockets: () => wire.upstream.stats().sockets,
    pass: (ms) => (pass(ms), wire.deadlines.sweep()),
  }
}

for (const [wire, start] of Object.entries({ 'HTTP/1.1': startHttp1, 'HTTP/2': startHttp2 })) {
  t.test(`${wire}: a byte now and then is cut, and its place is free again`, async (t) => {
    const { upload, received, sockets, pass } = await start(t, '')
    let sent = 0
    for (let passedMs = 0; !upload.isCut(); passedMs += 20 * SECOND_MS) {
      t.ok(passedMs <= IDLE_MS, 'cut when the idle time has passed once')
      upload.send(1)
      sent++
      while (received() < sent && !upload.isCut()) await tick()
      pass(20 * SECOND_MS)
    }
    while (sockets() > 0) await tick()
  })

  t.test(`${wire}: the slowest pace that there may be goes on for ever`, async (t) => {
    const { upload, received, pass } = await start(t, '')
    let sent = 0
    for (let round = 0; round < 12; round++) {
      upload.send(LEAST_BYTES / 3)
      sent += LEAST_BYTES / 3
      while (received() < sent && !upload.isCut()) await tick()
      pass(20 * SECOND_MS)
    }
    t.notOk(upload.isCut())
  })

  t.test(`${wire}: one byte less than that does not`, async (t) => {
    const { upload, received, pass } = await start(t, '')
    let sent = 0
    for (let round = 0; round < 12 && !upload.isCut(); round++) {
      upload.send(LEAST_BYTES / 3 - 1)
      sent += LEAST_BYTES / 3 - 1
      while (received() < sent && !upload.isCut()) await tick()
      pass(20 * SECOND_MS)
    }
    t.ok(upload.isCut())
  })

  t.test(`${wire}: an application that answers meanwhile may be talked to slowly`, async (t) => {
    const answer = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n'
    const { upload, received, pass } = await start(t, answer)
    for (let sent = 1; sent <= 12; sent++) {
      upload.send(1)
      while (received() < sent && !upload.isCut()) await tick()
      pass(20 * SECOND_MS)
    }
    t.notOk(upload.isCut())
  })
}
