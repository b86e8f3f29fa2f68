/** 1 GiB to somebody who does not read: how much memory the gateway holds for it. */
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

const GIB = 1 << 30
const CHUNK = Buffer.alloc(256 * 1024, 97)
const SAMPLE_MS = 50
/** Nothing moves for so long: what is held is what will be held. */
const STILL_MS = 2000

export const residentOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? NaN) *
  1024

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The least of two seconds: between two collections of garbage. */
async function restingBytes(pid: number): Promise<number> {
  let least = Infinity
  for (let spentMs = 0; spentMs < 2000; spentMs += SAMPLE_MS) {
    least = Math.min(least, residentOf(pid))
    await sleep(SAMPLE_MS)
  }
  return least
}

function pour(socket: Socket, count: (bytes: number) => void) {
  let left = GIB
  const more = () => {
    while (left > 0) {
      const bytes = Math.min(left, CHUNK.length)
      left -= bytes
      count(bytes)
      if (!socket.write(CHUNK.subarray(0, bytes))) return
    }
  }
  socket.on('drain', more).on('error', () => undefined)
  more()
}

/** `/pour` sends 1 GiB, `/stall` reads nothing behind the head, all else is `ok`. */
export async function startGiantOrigin() {
  const sockets = new Set<Socket>()
  const origin = { port: 0, pouredBytes: 0, stalled: 0 }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    socket.on('data', (chunk: Buffer) => {
      const line = chunk.toString('latin1', 0, 40)
      if (line.includes(' /pour ')) {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${GIB}\r\n\r\n`)
        pour(socket, (bytes) => (origin.pouredBytes += bytes))
      } else if (line.includes(' /stall ')) {
        origin.stalled++
        socket.pause()
      } else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin.port = (server.address() as AddressInfo).port
  return {
    origin,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

export interface Stall {
  readonly grownBytes: number
  /** What the sender got rid of before it was held, over all connections. */
  readonly movedBytes: number
}

export interface StallOptions {
  readonly pid: number
  readonly port: number
  readonly connections: number
  readonly head: string
  /** The client sends the giant; else it asks for one and reads nothing. */
  readonly isUpload: boolean
  readonly poured: () => number
}

export async function measureStall(options: StallOptions): Promise<Stall> {
  const { pid, port, connections, head, isUpload } = options
  const before = await restingBytes(pid)
  const pouredBefore = options.poured()
  let sent = 0
  const sockets = Array.from({ length: connections }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(head)
    if (isUpload) pour(socket, (bytes) => (sent += bytes))
    return socket
  })
  const moved = () => (isUpload ? sent : options.poured() - pouredBefore)
  for (let last = -1; moved() !== last || last === 0;) {
    last = moved()
    await sleep(STILL_MS)
  }
  const grownBytes = (await restingBytes(pid)) - before
  for (const socket of sockets) socket.destroy()
  await sleep(STILL_MS)
  return { grownBytes, movedBytes: moved() }
}

export const GIANT_BYTES = GIB
