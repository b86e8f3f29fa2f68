/** Runs on a pretended machine: what it may reach outside, and where it is reached, by sockets in a folder. */
import { createServer, connect, type Socket } from 'node:net'
import { join } from 'node:path'

const [folder = '', outside = '', inside = ''] = process.argv.slice(2)
const portsOf = (text: string) => text.split(',').map(Number)

function relayed(socket: Socket, other: Socket) {
  socket.pipe(other).pipe(socket)
  socket.on('error', () => other.destroy())
  other.on('error', () => socket.destroy())
}

for (const port of portsOf(outside))
  createServer((socket) => relayed(socket, connect(join(folder, `out-${port}`)))).listen(
    port,
    '127.0.0.1',
  )
for (const port of portsOf(inside))
  createServer((socket) => relayed(socket, connect(port, '127.0.0.1'))).listen(
    join(folder, `in-${port}`),
  )
process.stdout.write('ready\n')
