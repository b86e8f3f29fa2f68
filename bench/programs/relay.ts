/**
 * A way that takes its time: `node bench/programs/relay.ts <port> <target port> <round trip ms>`.
 * What comes in goes out half a round trip later, at most `WINDOW_BYTES` of it being under way.
 * Each connection comes from a loopback address of its own, as those of many machines would.
 */
import { connect, createServer, type Socket } from 'node:net'

const [port = 0, target = 0, roundTripMs = 0] = process.argv.slice(2).map(Number)
/** Of a connection without loss: as much as Linux lets it have by itself. */
const WINDOW_BYTES = 6 << 20
const delayMs = roundTripMs / 2
let count = 0

function carry(from: Socket, to: Socket): void {
  let underWay = 0
  const later = (work: () => void, ms: number) => (ms === 0 ? work() : void setTimeout(work, ms))
  from.on('data', (chunk: Buffer) => {
    underWay += chunk.length
    if (underWay >= WINDOW_BYTES) from.pause()
    later(() => {
      to.write(chunk)
      // and as long until its sender knows that it has arrived
      later(() => {
        underWay -= chunk.length
        if (underWay < WINDOW_BYTES) from.resume()
      }, delayMs)
    }, delayMs)
  })
  from.on('end', () => later(() => to.end(), delayMs))
  from.on('error', () => to.destroy())
  from.on('close', () => later(() => to.destroy(), delayMs + 1))
}

const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
  const number = count++ % 60_000
  const localAddress = `127.1.${number >> 8}.${number & 255 || 1}`
  const far = connect({
    port: target,
    host: '127.0.0.1',
    localAddress,
    allowHalfOpen: true,
    noDelay: true,
  })
  carry(near, far)
  carry(far, near)
})
server.listen(port, '127.0.0.1', 4096)
process.once('SIGTERM', () => process.exit(0))
