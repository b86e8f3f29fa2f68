/**
 * The peer @fastify/http-proxy: `node bench/programs/fastify.ts <port> <origin port>`. Its upstream
 * side is an undici pool with keep-alive, as it comes; Fastify's logger is off, as it comes.
 */
import proxy from '@fastify/http-proxy'
import fastify from 'fastify'

const [port = 0, originPort = 0] = process.argv.slice(2).map(Number)
const server = fastify()
await server.register(proxy, { upstream: `http://127.0.0.1:${originPort}` })
await server.listen({ port, host: '127.0.0.1', backlog: 4096 })
process.once('SIGTERM', () => process.exit(0))
