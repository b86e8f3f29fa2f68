/** A gateway before an application that pours, and clients that take of it what they choose to take. */
import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { frame, FrameClient, TYPE, uint32 } from './http2-frames.ts'
import { startSecureWire, type SecureWire, type SecureWireOptions } from './secure-wire.ts'
import { startRawOrigin } from './wire.ts'
import { clockOf } from './clocks.ts'

export const IDLE_MS = 60_000
const GIANT_BYTES = 64 * (1 << 20)

export const tick = () => new Promise((next) => setImmediate(next))

export function initialWindow(bytes: number): Buffer {
  const setting = Buffer.alloc(6)
  setting.writeUInt16BE(4, 0)
  setting.writeUInt32BE(bytes, 2)
  return frame(TYPE.settings, 0, 0, setting)
}

export const widen = (stream: number, bytes: number) =>
  frame(TYPE.windowUpdate, 0, stream, uint32(bytes))

/** `/giant` never ends, `/events` says a word now and then, all else is a page of 100 KB. */
async function startSpring(t: Test) {
  const page = Buffer.alloc(100_000)
  const asked: string[] = []
  const events = new Set<Socket>()
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', (chunk) => {
      const path = chunk.toString('latin1').split(' ')[1]!
      asked.push(path)
      if (path === '/events') {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
        events.add(socket)
      } else {
        const bytes = path === '/giant' ? GIANT_BYTES : page.length
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`)
        for (let left = bytes; left > 0; left -= page.length)
          socket.write(page.subarray(0, Math.min(left, page.length)))
      }
    })
  })
  return { ...origin, asked, events }
}

export async function startSpringWire(t: Test, options: SecureWireOptions = {}) {
  const origin = await startSpring(t)
  let nowMs = 1_800_000_000_000
  const clock = clockOf(() => nowMs)
  const timeouts = { headMs: IDLE_MS, idleMs: IDLE_MS, keepAliveMs: IDLE_MS }
  const wire = await startSecureWire(t, origin.url, {
    clock,
    timeouts,
    sweepMs: 2 ** 30,
    ...options,
  })
  const pass = (ms: number) => {
    nowMs += ms
    wire.deadlines.sweep()
  }
  return { origin, wire, pass }
}

export const connect = (wire: SecureWire, windowBytes: number) =>
  new FrameClient(wire.tls({ ALPNProtocols: ['h2'] })).send(initialWindow(windowBytes))

/** So many turns that all that was under way has come as far as it can. */
export async function settle(client: FrameClient) {
  for (let count = 0; count < 20; count++) await client.settled()
}

export const bytesOf = (client: FrameClient, stream: number) =>
  client.frames
    .filter((found) => found.type === TYPE.data && found.stream === stream)
    .reduce((sum, { payload }) => sum + payload.length, 0)

export const inFlight = (wire: SecureWire) => {
  let count = 0
  wire.http2.eachInFlight(() => count++)
  return count
}
