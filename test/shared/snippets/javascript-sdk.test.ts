// long: builds and starts servers, and waits for their promises by the clock
/** The snippets for sdk mode, each a program of its own: they enforce without an edge. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { JAVASCRIPT } from '../../../shared/integration/snippets/javascript.ts'
import type { Snippet } from '../../../shared/integration/snippets/snippet.ts'
import { temporaryFolder } from '../../support/control-plane.ts'
import { CLIENT_SECRET, startFeedService, TENANT, USER_AGENT } from '../../support/feed-service.ts'
import { nodesHere } from '../../support/installed-sdk.ts'
import { freePort } from '../../support/ports.ts'
import type { Host } from './application.ts'
import { javascriptHosts } from './javascript-host.ts'

const hosts = await javascriptHosts(t)

for (const name of ['node', 'express', 'fastify', 'koa', 'hono', 'nest'] as const)
  keepsItsPromises(`the snippet for ${JAVASCRIPT[name].name} in sdk mode`, name, hosts[name])

/** The oldest that we promise to run on. */
const oldest = nodesHere().get(20)
keepsItsPromises('the snippet for Node.js in sdk mode, on Node 20', 'node', {
  ...hosts.node,
  missing: oldest === undefined ? 'no Node 20 on this machine' : false,
  start: [oldest ?? '', 'server.mjs'],
})

function keepsItsPromises(what: string, name: keyof typeof JAVASCRIPT, host: Host): void {
  void t.test(what, { skip: host.missing }, async (t) => {
    const service = await startFeedService(t)
    const ask = await startSnippet(t, JAVASCRIPT[name].sdk, host, service.baseUrl)

    t.match(await ask('/', { cookie: service.session() }), { status: 200, text: 'Hello Ada\n' })
    const opened = await ask('/', { 'sec-fetch-mode': 'navigate' })
    t.match(opened, { status: 302, location: '/service/login?returnTo=%2F' })
    t.match(await ask('/'), { status: 401, text: /sign_in_required/ })
    t.match(await ask('/admin/users', { cookie: service.session() }), { status: 404 }, 'sealed')
    t.match(await ask('/service/login'), { status: 302, location: new RegExp(`^${service.issuer}/authorize`) }) // prettier-ignore
    const named = { 'x-service-user': 'ada', 'x-service-verified': 'true' }
    t.match(await ask('/', named), { status: 401 }, 'who only says so')

    service.revoke({ all: service.nowSeconds() + 1 })
    const session = service.session()
    await service.polled()
    t.match(await ask('/', { cookie: session }), { status: 401, text: /revoked/ })
    service.put({ protection: 'pass-through' })
    await service.polled()
    t.match(await ask('/'), { status: 200, text: 'Hello stranger\n' }, 'protection is off')
  })
}

async function startSnippet(t: Test, { file, code }: Snippet, host: Host, baseUrl: string) {
  const folder = temporaryFolder(t)
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), code)
  const [builder = '', ...steps] = host.build ?? []
  execFileSync(builder, steps, { cwd: folder, stdio: 'pipe' })
  const port = await freePort()
  const [program = '', ...args] = host.start as readonly string[]
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      PORT: String(port),
      SERVICE_BASE_URL: baseUrl,
      SERVICE_TENANT_ID: TENANT,
      SERVICE_CLIENT_SECRET: CLIENT_SECRET,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  t.teardown(async () => {
    child.kill()
    await ended
  })

  async function ask(path: string, headers: Record<string, string> = {}) {
    const sent = { host: 'app.localhost', 'user-agent': USER_AGENT, ...headers }
    const answer = await request(`http://127.0.0.1:${port}${path}`, { headers: sent })
    const { location } = answer.headers
    return { status: answer.statusCode, location, text: await answer.body.text() }
  }

  for (;;)
    try {
      await ask('/')
      return ask
    } catch (error) {
      if (child.exitCode !== null) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
}
