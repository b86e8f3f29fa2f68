/** A process of its own: answers with so many bytes, and counts those that it is sent. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const piece = Buffer.alloc(1 << 16, 'x')
const server = createServer((request, response) => {
  const bytes = Number(/^\/pour\/(\d+)$/.exec(request.url ?? '')?.[1] ?? 0)
  if (bytes === 0) {
    let received = 0
    request.on('data', (chunk: Buffer) => (received += chunk.length))
    return void request.on('end', () => response.end(String(received)))
  }
  response.setHeader('content-length', bytes)
  let left = bytes
  const pour = () => {
    while (left > 0) {
      left -= piece.length
      if (!response.write(piece)) return void response.once('drain', pour)
    }
    response.end()
  }
  pour()
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit())
