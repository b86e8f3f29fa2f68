/** Each with the framework itself, and with the package as npm has installed it. */
import { join } from 'node:path'
import t from 'tap'
import { JAVASCRIPT } from '../../../../control-plane/api/contract/snippets/javascript.ts'
import { installSdk } from '../../../support/installed-sdk.ts'
import type { Host } from './application.ts'
import { keepsItsPromises } from './promises.ts'

const ROOT = new URL('../../../../', import.meta.url).pathname
const { folder } = await installSdk(t)
const SDK = join(folder, 'node_modules', 'service-node')

/** As if `npm install` had been run: the project's own copies of the frameworks, and our package. */
const LINKED = `mkdir node_modules && ln -s ${ROOT}node_modules/* node_modules && cp -r ${SDK} node_modules`

const onNode: Host = {
  missing: false,
  build: ['/bin/sh', '-ec', LINKED],
  start: [process.execPath, 'server.mjs'],
}

for (const name of ['node', 'express', 'fastify', 'koa', 'hono'] as const)
  keepsItsPromises(JAVASCRIPT[name], onNode)

/** What Nest's command line tool does with a project. */
const COMPILE = `const ts = require('typescript'), fs = require('fs')
const compilerOptions = { experimentalDecorators: true, emitDecoratorMetadata: true, module: 'esnext', target: 'es2023' }
fs.writeFileSync('main.mjs', ts.transpileModule(fs.readFileSync('src/main.ts', 'utf8'), { compilerOptions }).outputText)`

keepsItsPromises(JAVASCRIPT.nest, {
  ...onNode,
  build: ['/bin/sh', '-ec', `${LINKED}\n${process.execPath} -e "${COMPILE.replaceAll('\n', ';')}"`],
  start: [process.execPath, 'main.mjs'],
})
