/** The peer http-proxy-3, as its README starts it: `node bench/http-proxy-3.ts <port> <origin port>`. */
import { Agent, createServer } from 'node:http'
import { createProxyServer } from 'http-proxy-3'

const [port = 0, originPort = 0] = process.argv.slice(2).map(Number)
const proxy = createProxyServer({
  target: `http://127.0.0.1:${originPort}`,
  agent: new Agent({ keepAlive: true, maxSockets: 256 }),
})
createServer((request, response) => proxy.web(request, response)).listen(port, '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
