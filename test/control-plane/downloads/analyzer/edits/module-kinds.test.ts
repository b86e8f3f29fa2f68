/** Code of either module kind in a package that is called the other: the edit fits, and no step is false. */
import t from 'tap'
import { detectNode } from '../../../../../control-plane/downloads/analyzer/detection/node/detect-node.ts'
import { planFor } from '../../../../../control-plane/downloads/analyzer/edits/plan-for.ts'
import { openProject } from '../../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { checkAll } from '../local-checks/project-here.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { WISHES, write } from './projects.ts'

/** How app.js gives its application away. */
const APPS = {
  'export default': 'import express from "express"\nconst app = express()\nexport default app\n',
  'export const': 'import express from "express"\nexport const app = express()\n',
  'export as default':
    'import * as express from "express"\nconst app = express()\nexport { app as default }\n',
  'module.exports':
    'const express = require("express")\nconst app = express()\nmodule.exports = app\n',
  'exports.app': 'const express = require("express")\nconst app = (exports.app = express())\n',
  'import beside module.exports':
    'import express from "express"\nconst app = express()\nmodule.exports = app\n',
  'import beside exports.app':
    'import express from "express"\nconst app = express()\nexports.app = app\n',
  'as TypeScript compiles it': `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.app = void 0;
const express_1 = require("express");
exports.app = (0, express_1.default)();
exports.default = exports.app;
`,
} as const
type App = keyof typeof APPS

const COMPILED = 'as TypeScript compiles it'
const DEFAULTS = ['export default', 'export as default', 'module.exports', COMPILED] as const
const NAMED = ['export const', 'exports.app', 'import beside exports.app', COMPILED] as const

/** How server.js takes it, and from which of them it may. */
const SERVERS: readonly (readonly [server: string, apps: readonly App[]])[] = [
  [
    'import http from "http"\nimport app from "./app"\nhttp.createServer(app).listen(3000)\n',
    [...DEFAULTS, 'import beside module.exports'],
  ],
  [
    'import * as http from "http"\nimport * as app from "./app"\nhttp.createServer(app.default).listen(3000)\n',
    DEFAULTS,
  ],
  [
    'import { createServer } from "http"\nimport { app } from "./app"\ncreateServer(app).listen(3000)\n',
    NAMED,
  ],
  [
    'const http = require("http")\nconst { app } = require("./app")\nhttp.createServer(app).listen(3000)\n',
    NAMED,
  ],
  [
    'const http = require("http")\nconst app = require("./app").default\nhttp.createServer(app).listen(3000)\n',
    ['export default', COMPILED],
  ],
  [
    'import http from "http"\nconst { default: app } = await import("./app.js")\nhttp.createServer(app).listen(3000)\n',
    DEFAULTS,
  ],
  [
    'const http = require("http")\nimport("./app.js").then(({ default: app }) => http.createServer(app).listen(3000))\n',
    DEFAULTS,
  ],
]

for (const type of ['commonjs', 'module'])
  for (const [server, apps] of SERVERS)
    for (const app of apps)
      t.test(`${type}: ${app}, taken by ${server.split('\n')[1]}`, async (t) => {
        const root = temporaryFolder(t)
        const dependencies = { express: '4' }
        const manifest = { type, scripts: { start: 'node server.js' }, dependencies }
        const files = { 'server.js': server, 'app.js': APPS[app] }
        write(root, { ...files, 'package.json': JSON.stringify(manifest) })
        const project = await openProject(root)
        const { applications } = await detectNode(project)
        const [application, ...more] = applications
        if (application === undefined || more.length > 0) throw new Error('it is one application')
        const { edits, manual } = await planFor(project, application, WISHES)
        t.same(manual, [], 'no step is left')
        const before = (await checkAll(root, { application })).of('middleware_mounted')
        const isModule = /^import /m.test(APPS[app])
        t.match(
          before.nextAction,
          isModule ? /To do it yourself: import \{/ : /To do it yourself: const \{ .*= require/,
        )
        const written = Object.fromEntries(edits.map(({ path, after }) => [path, after]))
        t.match(
          written['app.js'],
          isModule ? /^import \{ verifyClaims/m : /= require\("service-node/,
        )
        write(root, written)
        const { of } = await checkAll(root, { application })
        for (const name of ['middleware_mounted', 'listeners_guarded', 'websockets_guarded']) {
          const found = of(name)
          t.equal(found.status, 'pass', `${name}: ${found.detail}`)
        }
        const again = await openProject(root)
        const [known] = (await detectNode(again)).applications
        t.same(known && (await planFor(again, known, WISHES)).edits, [], 'nothing is left to do')
      })
