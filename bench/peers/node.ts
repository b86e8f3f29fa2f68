/** The proxies that Node programs are built with. */
import { freePort } from '../../test/support/ports.ts'
import { start } from '../processes.ts'
import { NODE_FLAGS, programPath, type Peer } from './peer.ts'

function nodePeer(name: string, packages: readonly string[], program: string[]): Peer {
  return {
    name,
    need: { packages, install: `npm install ${packages.join(' ')}` },
    async start({ originPort }) {
      const port = await freePort()
      const [file = '', ...wishes] = program
      const args = [...NODE_FLAGS, programPath(file), String(port), String(originPort), ...wishes]
      return start(process.execPath, args, { port })
    },
  }
}

export const fastify = nodePeer(
  '@fastify/http-proxy',
  ['@fastify/http-proxy', 'fastify'],
  ['fastify.ts'],
)

/** No agent: a new connection to the origin for every request. */
export const httpProxy3 = nodePeer('http-proxy-3 README', ['http-proxy-3'], ['http-proxy-3.ts'])

export const httpProxy3KeepAlive = nodePeer(
  'http-proxy-3 keep-alive',
  ['http-proxy-3'],
  ['http-proxy-3.ts', 'keep-alive'],
)
