/**
 * A process of its own: asks at a steady rate over kept connections, whatever the answers take, and
 * tells how long each took, from when it was due.
 *
 *   node bench/adversity/steady-clients.ts <port> <requests per second> <seconds> <head, as JSON>
 */
import { connect } from 'node:net'
import type { Socket } from 'node:net'

const [port = 0, perSecond = 0, seconds = 0] = process.argv.slice(2).map(Number)
const head = JSON.parse(process.argv[5] ?? '""') as string
const CONNECTIONS = 32

const idle: Socket[] = []
const due: number[] = []
const tookMs: number[] = []
let failed = 0

function open() {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let dueMs = 0
  let received = ''
  const free = () => {
    const next = due.shift()
    if (next === undefined) return void idle.push(socket)
    ask(next)
  }
  const ask = (since: number) => {
    dueMs = since
    socket.write(head)
  }
  socket.on('connect', free).on('error', () => undefined)
  socket.on('ask', ask)
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1')
    const headEnd = received.indexOf('\r\n\r\n')
    const length = Number(/^content-length: (\d+)/im.exec(received)?.[1] ?? NaN)
    if (headEnd === -1 || received.length < headEnd + 4 + length) return
    if (received.startsWith('HTTP/1.1 200 ')) tookMs.push(performance.now() - dueMs)
    else failed++
    received = ''
    dueMs = 0
    free()
  })
  socket.on('close', () => {
    const at = idle.indexOf(socket)
    if (at !== -1) idle.splice(at, 1)
    if (dueMs > 0) failed++
    open()
  })
}

for (let count = 0; count < CONNECTIONS; count++) open()
await new Promise((resolve) => setTimeout(resolve, 500))
const startMs = performance.now()
let asked = 0
const timer = setInterval(() => {
  const nowMs = performance.now()
  for (; asked < ((nowMs - startMs) / 1000) * perSecond; asked++) {
    const socket = idle.pop()
    if (socket === undefined) due.push(nowMs)
    else socket.emit('ask', nowMs)
  }
}, 1)
setTimeout(() => {
  clearInterval(timer)
  setTimeout(() => {
    tookMs.sort((a, b) => a - b)
    const at = (share: number) => tookMs[Math.floor(tookMs.length * share)] ?? NaN
    process.send?.({ p50Ms: at(0.5), p99Ms: at(0.99), answered: tookMs.length, failed })
    process.exit()
  }, 500)
}, seconds * 1000)
