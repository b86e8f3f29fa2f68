/**
 * Ports for programs whose addresses must be known before they start; below the ephemeral ones.
 * Between the choice and the program's start nobody listens there, and other test processes choose
 * at the same time. So each keeps the UDP port of the same number, which nothing else here uses,
 * and the kernel gives it back with the process, however that ends.
 */
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

const FIRST = 12_000
const LAST = 32_000

export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    // Kept first: to try a port that is somebody else's would take it from their program.
    if ((await keep(port)) && (await canListen(port))) return port
  }
}

/** A port on which somebody listens stays kept too: it is no use to anybody. */
function keep(port: number): Promise<boolean> {
  const mark = createSocket('udp4').unref()
  return new Promise((resolve) => {
    mark.once('error', () => {
      mark.close()
      resolve(false)
    })
    mark.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true))
  })
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
