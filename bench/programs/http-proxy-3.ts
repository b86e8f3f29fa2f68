/** The peer http-proxy-3: `node bench/programs/http-proxy-3.ts <port> <origin port> [keep-alive]`. */
import { Agent, createServer } from 'node:http'
import { createProxyServer } from 'http-proxy-3'

const [port = '', originPort = '', wish = ''] = process.argv.slice(2)
const target = `http://127.0.0.1:${originPort}`
// As its README starts it there is no agent, and so a new connection to the origin per request.
const proxy = createProxyServer(
  wish === 'keep-alive'
    ? { target, agent: new Agent({ keepAlive: true, maxSockets: 256 }) }
    : { target },
)
createServer((request, response) => proxy.web(request, response)).listen(Number(port), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
