/** The service and the tenant are part of the code that is written: it starts with nothing set. */
import t from 'tap'
import { guardCall } from '../../../../../control-plane/downloads/analyzer/edits/guard-call.ts'
import { after, table, type Given } from './mounted.ts'

const service = { baseUrl: 'https://id.example.com', tenantId: 'acme' }
const given: Given = { service }

table('the service and the tenant that the key belongs to', [
  [
    'in the style of the file',
    `import express from "express";

const app = express();
`,
    `import express from "express";
import { verifyClaims } from "service-node";

const app = express();
const service = verifyClaims({
  baseUrl: process.env.SERVICE_BASE_URL ?? "https://id.example.com",
  tenantId: process.env.SERVICE_TENANT_ID ?? "acme",
});
app.use(service.express()); // before everything else
`,
    given,
  ],
  [
    'in a function, without semicolons, by tabs',
    `const express = require('express')
module.exports = function make() {
\tconst app = express()
\treturn app
}
`,
    `const express = require('express')
const { verifyClaims } = require('service-node')
module.exports = function make() {
\tconst app = express()
\tconst service = verifyClaims({
\t\tbaseUrl: process.env.SERVICE_BASE_URL ?? 'https://id.example.com',
\t\ttenantId: process.env.SERVICE_TENANT_ID ?? 'acme',
\t})
\tapp.use(service.express()) // before everything else
\treturn app
}
`,
    given,
  ],
  [
    'a link of a chain is one line',
    `import express from 'express'
express().listen(3000)
`,
    `import express from 'express'
import { verifyClaims } from 'service-node'
express().use(verifyClaims({ baseUrl: process.env.SERVICE_BASE_URL ?? 'https://id.example.com', tenantId: process.env.SERVICE_TENANT_ID ?? 'acme' }).express()).listen(3000)
`,
    given,
  ],
  [
    'around a listener',
    `import { createServer } from 'node:http'
createServer((request, response) => response.end('hello')).listen(3000)
`,
    `import { createServer } from 'node:http'
import { enforce } from 'service-node'
const service = enforce({
  baseUrl: process.env.SERVICE_BASE_URL ?? 'https://id.example.com',
  tenantId: process.env.SERVICE_TENANT_ID ?? 'acme',
})
createServer(service.node((request, response) => response.end('hello'))).listen(3000)
`,
    { ...given, framework: 'node', mode: 'sdk' },
  ],
])

t.test('a line that would go on where ours ends is kept apart', async (t) => {
  const text = `const express = require('express')
const app = express()
;[1, 2].forEach((port) => app.listen(port))
`
  t.match(after(text, given), /\}\)\napp\.use\(service\.express\(\)\) \/\/ before/)
})

t.test('whoever does not know the tenant writes none, and no address ends its text', async (t) => {
  const style = { quote: "'", space: ' ' } as const
  t.equal(guardCall(style, 'enforce', { ...service, tenantId: null }), 'enforce()')
  const odd = guardCall(style, 'enforce', { ...service, baseUrl: "https://id.example.com/'+x+'" })
  t.match(odd, "?? 'https://id.example.com/%27+x+%27',")
})
