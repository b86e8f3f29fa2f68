/**
 * A process of its own: holds so many connections that never finish what they begin. Three of four
 * trickle a head, the fourth a body behind a whole head; whoever is cut off comes again at once.
 *
 *   node bench/adversity/slow-clients.ts <port> <connections> <head of a POST, as JSON>
 */
import { connect } from 'node:net'
import type { Socket } from 'node:net'

const [port = 0, connections = 0] = process.argv.slice(2).map(Number)
const postHead = JSON.parse(process.argv[4] ?? '""') as string
const TRICKLE_MS = 1500
/** So that none of them reaches the limit of connections per address. */
const ADDRESSES = 40

const open = new Map<number, Socket>()
let begun = 0
let cut = 0

function begin(index: number) {
  const localAddress = `127.0.1.${1 + (index % ADDRESSES)}`
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('connect', () => {
    begun++
    open.set(index, socket)
    socket.write(index % 4 === 0 ? postHead : 'GET / HTTP/1.1\r\nHost: app.localhost\r\n')
  })
  socket.resume().on('error', () => undefined)
  socket.on('close', () => {
    if (open.delete(index)) cut++
    setTimeout(() => begin(index), 50)
  })
}

for (let index = 0; index < connections; index++) begin(index)
setInterval(() => {
  for (const [index, socket] of open) socket.write(index % 4 === 0 ? 'x' : 'X-A: b\r\n')
}, TRICKLE_MS)
setInterval(() => process.send?.({ open: open.size, begun, cut }), 100)
process.on('disconnect', () => process.exit())
