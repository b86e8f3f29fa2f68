/** Where no line can stand behind the application: in its chain, and around the listener of a server. */
import t from 'tap'
import { after, table } from './mounted.ts'

table('without a name it is the first link of the chain', [
  [
    'an application that is exported whole',
    `import express from 'express'
export default express()
  .use(cors())
  .get('/', home)
`,
    `import express from 'express'
import { verifyClaims } from 'service-node'
export default express().use(verifyClaims().express())
  .use(cors())
  .get('/', home)
`,
  ],
  [
    'made and returned',
    `const express = require('express')
module.exports = { create: () => express().set('json spaces', 2) }
`,
    `const express = require('express')
const { verifyClaims } = require('service-node')
module.exports = { create: () => express().use(verifyClaims().express()).set('json spaces', 2) }
`,
  ],
  [
    'handed to a function that has its own name for it',
    `const express = require('express')
const { app } = require('express-ws')(express())
`,
    `const express = require('express')
const { verifyClaims } = require('service-node')
const { app } = require('express-ws')(express().use(verifyClaims().express()))
`,
  ],
  [
    'used in its own declaration',
    `const express = require('express')
const app = express(), routes = app.use(1)
`,
    `const express = require('express')
const { verifyClaims } = require('service-node')
const app = express().use(verifyClaims().express()), routes = app.use(1)
`,
  ],
  [
    'a field of a class without a constructor',
    `import express from 'express'
class Api {
  app = express()
}
`,
    `import express from 'express'
import { verifyClaims } from 'service-node'
class Api {
  app = express().use(verifyClaims().express())
}
`,
  ],
  [
    'where nothing is imported at the top',
    `module.exports = require('express')().use(cors())
`,
    `module.exports = require('express')().use(require('service-node').verifyClaims().express()).use(cors())
`,
  ],
  [
    'Koa',
    `import Koa from 'koa'
export const make = () => new Koa().use(router.routes())
`,
    `import Koa from 'koa'
import { verifyClaims } from 'service-node'
export const make = () => new Koa().use(verifyClaims().koa()).use(router.routes())
`,
    { framework: 'koa' },
  ],
  [
    'Hono, whose types come from its chain',
    `import { Hono } from 'hono'
const app = new Hono().get('/', home)
export type App = typeof app
`,
    `import { Hono } from 'hono'
import { verifyClaims } from 'service-node'
const app = new Hono().use(verifyClaims().hono()).get('/', home)
export type App = typeof app
`,
    { framework: 'hono', path: 'app.ts' },
  ],
  [
    'what others carry is guarded by them',
    `const express = require('express')
const app = express()
app.use('/admin', express().get('/', home))
`,
    `const express = require('express')
const { verifyClaims } = require('service-node')
const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else
app.use('/admin', express().get('/', home))
`,
  ],
])

table('node:http', [
  [
    'the listener is put behind the guard, and that of WebSockets',
    `const http = require('node:http')

// one server
const server = http.createServer({ keepAlive: true }, (request, response) => {
  response.end()
})
server.on('upgrade', (request, socket, head) => socket.end())
server.listen(1)
`,
    `const http = require('node:http')
const { verifyClaims } = require('service-node')

const service = verifyClaims()
// one server
const server = http.createServer({ keepAlive: true }, service.node((request, response) => {
  response.end()
}))
server.on('upgrade', service.upgrade((request, socket, head) => socket.end()))
server.listen(1)
`,
    { framework: 'node' },
  ],
  [
    'a maker of its own that is called like the one of node:http',
    `import http from 'http'
createServer().listen(1)
function createServer() {
  const server = http.createServer()
  server.on('request', (request, response) => response.end())
  return server
}
`,
    `import http from 'http'
import { verifyClaims } from 'service-node'
createServer().listen(1)
function createServer() {
  const service = verifyClaims()
  const server = http.createServer()
  server.on('request', service.node((request, response) => response.end()))
  return server
}
`,
    { framework: 'node' },
  ],
  [
    'a listener that is told later',
    `import { createServer } from 'http'
const server = createServer()
server.on('request', (request, response) => response.end())
`,
    `import { createServer } from 'http'
import { verifyClaims } from 'service-node'
const service = verifyClaims()
const server = createServer()
server.on('request', service.node((request, response) => response.end()))
`,
    { framework: 'node' },
  ],
  [
    'a listener of another file',
    `import { createServer } from 'http'
import { listener } from './listener.js'
export default createServer(listener)
`,
    `import { createServer } from 'http'
import { listener } from './listener.js'
import { verifyClaims } from 'service-node'
const service = verifyClaims()
export default createServer(service.node(listener))
`,
    { framework: 'node' },
  ],
  [
    'two servers of one listener, of which one will be made',
    `const http = require('http')
const https = require('https')

module.exports = function create(options) {
  const handler = (request, response) => response.end()
  let server
  if (options.tls) {
    server = https.createServer(options.tls, handler)
  } else {
    server = new http.Server(handler)
  }
  return server
}
`,
    `const http = require('http')
const https = require('https')
const { verifyClaims } = require('service-node')

module.exports = function create(options) {
  const handler = (request, response) => response.end()
  let server
  const service = verifyClaims()
  if (options.tls) {
    server = https.createServer(options.tls, service.node(handler))
  } else {
    server = new http.Server(service.node(handler))
  }
  return server
}
`,
    { framework: 'node' },
  ],
  [
    'what connect makes',
    `const connect = require('connect')
const app = connect()
require('http').createServer(app).listen(1)
`,
    `const connect = require('connect')
const { verifyClaims } = require('service-node')
const app = connect()
const service = verifyClaims()
require('http').createServer(service.node(app)).listen(1)
`,
    { framework: 'node' },
  ],
])

t.test('WebSockets of the very server are guarded, those of another are left alone', async (t) => {
  const of = (server: string) => `const express = require('express')
const http = require('http')
const app = express()
const server = ${server}
server.on('upgrade', onUpgrade)
function onUpgrade() {}
`
  const guarded = "server.on('upgrade', service.upgrade(onUpgrade))"
  t.match(after(of('http.createServer(app)')), guarded)
  t.match(after(of('app.listen(3000)')), guarded)
  t.notMatch(after(of('http.createServer(other)')), guarded)
})
