/** What answers a probe, and what is started, where one file leads to the other in ways of its own. */
import t from 'tap'
import { detectNode } from '../../../../../control-plane/downloads/analyzer/detection/node/detect-node.ts'
import { projectWith } from './project-with.ts'

t.test(
  'what answers a probe is found in middleware, behind namespaces, and of a guess',
  async (t) => {
    const koa = await detectNode(
      projectWith({
        'package.json': '{ "scripts": { "start": "node a.js" }, "dependencies": { "koa": "2" } }',
        'a.js': `const Koa = require('koa')\nconst app = new Koa()
app.use(async (ctx, next) => { if (other.path === '/ping') return\n if (ctx.request.url === '/_health') ctx.status = 204\n else await next() })
app.listen(3000)`,
      }),
    )
    const [answered] = koa.applications
    t.equal(answered?.healthPath, '/_health')
    t.equal(answered?.findings.find(({ about }) => about === 'health')?.confidence, 'likely')

    const manifest = '{ "main": "a.js", "type": "module", "dependencies": { "express": "5" } }'
    const grouped = await detectNode(
      projectWith({
        'package.json': manifest,
        // the manifest of what was built is no package of its own
        'built/package.json': manifest.replace('{', '{ "name": "shop",'),
        'a.js': `import express from 'express'\nimport { health } from './api.js'
export class Shop { constructor() { this.app = express()\n this.app.use(health.createRouter()) } }`,
        'api.js': `export * as health from './health.js'`,
        'health.js': `import { Router } from 'express'
export function createRouter() { const router = Router()\n router.get('/api/_health', (q, r) => r.end())\n return router }`,
      }),
    )
    t.equal(grouped.applications[0]?.healthPath, '/api/_health')
  },
)

t.test('what was built has a copy of the manifest, and is no package of its own', async (t) => {
  const manifest = '{ "name": "shop", "bin": "bin/shop", "dependencies": { "express": "5" } }'
  const { applications } = await detectNode(
    projectWith({
      'package.json': manifest,
      'build/package.json': manifest,
      'bin/shop': `#!/usr/bin/env node\nrequire('../build/cli').run(process.argv[2])`,
      'build/cli.js': `exports.run = (name) => require(process.env.COMMANDS + name)`,
      'build/server.js': `const express = require('express')\nexports.app = express()`,
    }),
  )
  t.match(applications, [{ folder: '', entry: { path: 'bin/shop' } }])
})

t.test('a link to a command is followed to the code that it lies beside', async (t) => {
  const { applications } = await detectNode(
    projectWith({
      'package.json': '{ "bin": "bin/serve" }',
      'bin/serve': `#!/usr/bin/env node\nconst fs = require('fs'), path = require('path')
fs.realpath(__filename, function (error, script) { require(path.join(path.dirname(script), '../lib/serve'))() })`,
      'lib/serve.js': `const { createServer } = require('http')
module.exports = (port) => createServer((q, r) => r.end()).listen(port || 8000)`,
    }),
  )
  t.match(applications, [
    { entry: { path: 'bin/serve' }, mount: { path: 'lib/serve.js' }, port: 8000 },
  ])
})
