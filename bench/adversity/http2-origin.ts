/** The application behind the gateway, in a process of its own: what its answers cost is not the measure's. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const ANSWER = Buffer.alloc(256 * 1024, 97)

const origin = createServer((request, response) => {
  if (request.url === '/large') response.end(ANSWER)
  else if (request.url !== '/upload') response.end('ok')
  request.resume()
})
origin.listen(0, '127.0.0.1', () => process.send!((origin.address() as AddressInfo).port))
process.once('disconnect', () => process.exit())
