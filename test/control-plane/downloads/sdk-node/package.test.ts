/** The npm package: what is in it, that npm takes it, and that it runs where we say that it does. */
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { VERSION } from '../../../../shared/version.ts'
import { startApi } from '../../../support/api.ts'
import { pemOf, signingKey } from '../../../support/claims.ts'
import { installSdk, nodesHere } from '../../../support/installed-sdk.ts'
import { signRs256 } from '../../../support/tokens.ts'

const run = promisify(execFile)
const sdk = installSdk(t)

t.test('the tarball is always the same bytes, and is not sent twice', async (t) => {
  const { app } = await startApi(t)
  const ask = (headers = {}) =>
    app.request('/api/v1/sdk/node', { headers }, { address: '127.0.0.1' })
  const first = await ask()
  t.equal(first.status, 200)
  t.equal(first.headers.get('content-type'), 'application/gzip')
  t.equal(first.headers.get('content-disposition'), `attachment; filename="service-node-${VERSION}.tgz"`) // prettier-ignore
  const etag = first.headers.get('etag') ?? ''
  t.match(etag, /^"[0-9a-f]{32}"$/)
  const tar = gunzipSync(await first.arrayBuffer())
  t.equal(parseInt(tar.toString('latin1', 136, 147), 8), Date.UTC(1985, 9, 26, 8, 15) / 1000)
  const again = await ask({ 'if-none-match': etag })
  t.equal(again.status, 304)
  t.equal(await again.text(), '')

  const script = `
    import { sdkTarball } from ${JSON.stringify(new URL('../../../../control-plane/downloads/sdk-node/tarball.ts', import.meta.url).href)}
    console.log((await sdkTarball()).etag)`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script])
  t.equal(stdout.trim(), etag, 'another process makes the same')
})

const CHECK = `
const { createServer, request } = await import('node:http')
const service = sdk.verifyClaims({
  baseUrl: 'https://service.example.test', tenantId: 'acme',
  publicKeyFile: process.env.KEY_FILE, publicKeyUrl: false,
})
await service.ready()
const server = createServer(service.node((request, response) => {
  response.setHeader('Set-Cookie', 'own=1')
  response.end(request.serviceClaims.name + ' ' + request.headers['x-service-user'])
}))
server.listen(0, '127.0.0.1', () => {
  const ask = (headers) => new Promise((resolve) => {
    request({ port: server.address().port, headers }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => (text += chunk))
      answer.on('end', () => resolve([answer.statusCode, text, answer.headers['cache-control']]))
    }).end()
  })
  Promise.all([ask({ 'x-service-claims': process.env.TOKEN }), ask({})]).then(async ([good, bad]) => {
    console.log(JSON.stringify({ version: sdk.version, good, bad: bad[0], node: process.versions.node }))
    await service.close()
    server.close()
  })
})`

t.test('npm installs it, and it runs as ESM and as CommonJS', async (t) => {
  const { folder } = await sdk
  const installed = join(folder, 'node_modules', 'service-node')
  t.same(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.')), ['service-node']) // prettier-ignore
  t.same(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'index.cjs', 'index.d.cts', 'index.d.ts', 'index.js', 'package.json']) // prettier-ignore
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as object
  t.match(manifest, { name: 'service-node', version: VERSION, engines: { node: '>=20' } })
  t.notMatch(manifest, { dependencies: {} })

  const code = readFileSync(join(installed, 'index.js'), 'utf8')
  const bundled = [...code.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)/gm)]
  const licences = readFileSync(join(installed, 'LICENSE'), 'utf8')
  t.not(bundled.length, 0)
  for (const name of new Set(bundled.map(([, name = '']) => name)))
    t.match(licences, `This software contains ${name} `, `the licence of ${name}`)
  const imports = [...code.matchAll(/(?:^import [^"]*|\bimport\()"([^"]+)"/gm)].map(
    ([, name]) => name,
  )
  t.same(
    imports.filter((name) => !name?.startsWith('node:')),
    [],
    'nothing else to install',
  )

  const nowSeconds = Math.floor(Date.now() / 1000)
  const claims = {
    iss: 'https://service.example.test/auth/realms/acme', aud: 'acme-user', sub: 'usr_ada',
    sid: 'ses_1', iat: nowSeconds, exp: nowSeconds + 600, name: 'Ada',
  } // prettier-ignore
  writeFileSync(join(folder, 'key.pem'), pemOf(signingKey()))
  const { kid } = signingKey()
  const TOKEN = signRs256(signingKey(), { alg: 'RS256', kid }, claims)
  writeFileSync(join(folder, 'esm.mjs'), `import * as sdk from 'service-node'${CHECK}`)
  writeFileSync(join(folder, 'cjs.cjs'), `const sdk = require('service-node');(async () => {${CHECK}})()`) // prettier-ignore

  const nodes = nodesHere()
  for (const major of [20, 26])
    for (const file of ['esm.mjs', 'cjs.cjs']) {
      const node = nodes.get(major)
      const options = node === undefined ? { skip: `no Node ${major} on this machine` } : {}
      t.test(`${file} on Node ${major}`, options, async (t) => {
        const env = { KEY_FILE: join(folder, 'key.pem'), TOKEN }
        const { stdout, stderr } = await run(node ?? '', [file], { cwd: folder, env })
        t.equal(stderr, '')
        const said = JSON.parse(stdout) as { node: string }
        t.match(said, { version: VERSION, good: [200, 'Ada usr_ada', 'private'], bad: 401 })
        t.ok(said.node.startsWith(`${major}.`))
      })
    }
})

const CONSUMER = `
import { createServer } from 'node:http'
SERVICE
const options: VerifyClaimsOptions = { baseUrl: 'https://a.test', tenantId: 'acme', excluded: ['/h'] }
const service: Service = verifyClaims(options)
const server = createServer(service.node((request, response) => {
  const name: string | undefined = request.serviceClaims?.name
  response.end(name ?? request.headers.host)
}))
server.on('upgrade', service.upgrade((request, socket, head) => {
  const sub: string | undefined = request.serviceClaims?.sub
  socket.end(sub ?? head.toString())
}))
const claims: Claims | undefined = undefined
// @ts-expect-error unknown option
verifyClaims({ tenant: 'acme' })
export const all = [server, claims, version.length, service.ready(), service.close()]
`

const FRAMEWORKS = `
import express from 'express'
import Fastify from 'fastify'
import Koa from 'koa'
import { Hono } from 'hono'
import type { INestApplication } from '@nestjs/common'
import { enforce, verifyClaims, type ServiceVariables } from 'service-node'
const service = verifyClaims()
express().use(service.express()).get('/', (request, response) => {
  const name: string | undefined = request.serviceClaims?.name
  response.send(name)
})
await Fastify().register(service.fastify())
new Koa().use(service.koa())
new Hono<{ Variables: ServiceVariables }>().use(service.hono()).get('/', (c) => c.text(c.get('serviceClaims')?.name ?? ''))
export const nest = (app: INestApplication) => app.use(service.nest())
export const sdk = () => enforce({ trustedProxies: ['10.0.0.0/8'], outage: { then: 'keep' } })
`

t.test('TypeScript reads its types, strictly, from ESM and from CommonJS', async (t) => {
  const { folder } = await sdk
  const esm = `import { verifyClaims, version, type Claims, type Service, type VerifyClaimsOptions } from 'service-node'`
  writeFileSync(join(folder, 'esm.mts'), CONSUMER.replace('SERVICE', esm))
  const cjs = `import sdk = require('service-node')
const { verifyClaims, version } = sdk
type Claims = sdk.Claims; type Service = sdk.Service; type VerifyClaimsOptions = sdk.VerifyClaimsOptions`
  const cjsCode = CONSUMER.replace('SERVICE', cjs).replace(`import { createServer } from 'node:http'`, `import http = require('node:http')\nconst { createServer } = http`) // prettier-ignore
  writeFileSync(join(folder, 'cjs.cts'), cjsCode)
  writeFileSync(join(folder, 'frameworks.mts'), FRAMEWORKS)
  const compile = (skipLibCheck: boolean, files: string[]) => {
    const compilerOptions = {
      module: 'nodenext', target: 'es2023', lib: ['es2023'], strict: true, noEmit: true, skipLibCheck,
      types: ['node'], typeRoots: [new URL('../../../../node_modules/@types', import.meta.url).pathname],
    } // prettier-ignore
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const tsc = new URL('../../../../node_modules/typescript/bin/tsc', import.meta.url).pathname
    try {
      return execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
    } catch (error) {
      return (error as { stdout: string }).stdout
    }
  }
  t.equal(compile(false, ['esm.mts', 'cjs.cts']), '')
  t.equal(compile(true, ['frameworks.mts']), '', 'and every framework takes what is made for it')
})
