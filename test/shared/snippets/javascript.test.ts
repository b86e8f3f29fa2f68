// long: builds and starts servers of six frameworks
import t from 'tap'
import { JAVASCRIPT } from '../../../shared/integration/snippets/javascript.ts'
import { javascriptHosts } from './javascript-host.ts'
import { keepsItsPromises } from './promises.ts'

const hosts = await javascriptHosts(t)

for (const name of ['node', 'express', 'fastify', 'koa', 'hono', 'nest'] as const)
  keepsItsPromises(JAVASCRIPT[name], hosts[name])
