// long: npm installs, edits and starts a real application, from nothing to live and back
/**
 * The whole story of a newcomer: an application of their own, one line that installs the tool, then
 * analyze, apply, verify, go-live; a browser signs in; and all the way back, to the first commit.
 */
import { readFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { addUser, PASSWORD, tenantBody } from '../../support/application.ts'
import { DESK, startChromium, WITHOUT_CHROMIUM } from '../../support/chromium.ts'
import { startNewcomer, until, type Newcomer } from '../../support/newcomer.ts'
import type { Fleet } from '../../support/programs.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

/** As the guide of Express has it, and a health path. */
const SHOP = {
  'package.json': `{
  "name": "shop",
  "version": "1.0.0",
  "private": true,
  "type": "module",
  "scripts": {
    "start": "node server.js"
  },
  "dependencies": {
    "express": "^5.0.0"
  }
}
`,
  'server.js': `import express from 'express'

// the shop of the newcomer
const app = express()
const port = process.env.PORT ?? 3000

app.get('/', (request, response) => {
  const user = request.get('x-service-user') ?? 'a stranger'
  response.send(\`<!doctype html><h1>Welcome, \${user}</h1>\`)
})

app.get('/health', (request, response) => response.send('ok'))

app.listen(port, () => console.log(\`listening on \${port}\`))
`,
  '.gitignore': 'node_modules/\n.env\n',
}

async function startShop(t: Test) {
  const newcomer = await startNewcomer(t, SHOP)
  t.equal((await newcomer.run('npm', ['install'])).code, 0, 'their own packages')
  await newcomer.git('init', '--quiet')
  await newcomer.git('add', '--all')
  await newcomer.git('commit', '--quiet', '--message', 'a shop')
  return newcomer
}

async function createTenant(
  fleet: Fleet,
  { origin }: Newcomer,
  tenantId: string,
  more: Record<string, unknown> = {},
) {
  const body = tenantBody(tenantId, origin, { plan: 'premium', sealed: [], excluded: [], ...more })
  const created = await fleet.operator('POST', '/tenants', body)
  if (created.status !== 201) throw new Error(JSON.stringify(created.body))
  const ada = await addUser(fleet, tenantId, 'ada')
  await fleet.operator('POST', `/tenants/${tenantId}/publish`)
  await fleet.settled()
  return {
    ada,
    key: String(created.body['analyzer_key']),
    clientSecret: String(created.body['client_secret']),
  }
}

interface Check {
  readonly check: string
  readonly status: string
  readonly source?: string
}

/** The tool as it was installed, with the key in the environment as a pipeline has it. */
function analyzerOf(t: Test, newcomer: Newcomer, key: string) {
  return async (...args: string[]) => {
    const environment = { SERVICE_ANALYZER_KEY: key, PORT: String(newcomer.port) }
    const ended = await newcomer.run('service-analyzer', [...args, '--json'], environment)
    t.notOk((ended.out + ended.err).includes(key), 'the key is not printed')
    const document = JSON.parse(ended.out) as Record<string, unknown>
    t.comment(`${args.join(' ')} → ${ended.code} ${ended.err}`)
    return { ...ended, document, checks: (document['checks'] ?? []) as Check[] }
  }
}

const statusesOf = (checks: readonly Check[]) =>
  Object.fromEntries(checks.map(({ check, status }) => [check, status]))

async function isAsInTheBeginning(t: Test, newcomer: Newcomer, first: string) {
  t.equal(await newcomer.git('status', '--porcelain', '--ignored=no'), '', 'nothing is left')
  t.equal((await newcomer.git('rev-parse', 'HEAD')).trim(), first)
  t.notOk(existsSync(join(newcomer.folder, '.service')))
  for (const [path, text] of Object.entries(SHOP))
    t.equal(readFileSync(join(newcomer.folder, path), 'utf8'), text, path)
}

t.test(
  'from a fresh Express application to a signed-in visitor, and back again',
  { skip: WITHOUT_CHROMIUM },
  async (t) => {
    const [fleet, newcomer] = await Promise.all([wholeFleet(t), startShop(t)])
    const { ada, key } = await createTenant(fleet, newcomer, 'shop')
    const first = (await newcomer.git('rev-parse', 'HEAD')).trim()
    const edge = fleet.edge('shop.localhost')
    const analyzer = analyzerOf(t, newcomer, key)
    const visitor = fleet.browser()
    const isOpenToStrangers = async () =>
      /Welcome, a stranger/.test((await visitor.once(`${edge}/`)).text)
    await newcomer.start()
    t.ok(await isOpenToStrangers(), 'on its way through the edge, as before')

    const installed = await newcomer.shell(`curl -fsS ${fleet.baseUrl}/api/v1/cli/install | dash`)
    t.match(installed, { code: 0, err: '' }, JSON.stringify(installed))
    const offline = await newcomer.run('service-analyzer', ['analyze'])
    t.match(offline, { code: 0, out: /express/i }, 'without a key and without asking anybody')
    t.match(offline.out, /server\.js/)

    const early = await analyzer('verify')
    t.equal(early.code, 1, 'it is not there yet')
    t.match(statusesOf(early.checks), { middleware_mounted: 'fail' })
    t.equal((await analyzer('go-live')).code, 1, 'so nobody goes live')

    const shown = await analyzer('apply', '--dry-run')
    t.equal(shown.code, 0)
    t.equal(await newcomer.git('status', '--porcelain'), '', 'shown, not written')
    const applied = await analyzer('apply', '--yes', '--install')
    t.equal(applied.code, 0, applied.err)
    if (applied.code !== 0) return
    t.match(applied.document['written'], ['package.json', 'server.js', 'service_public.pem'])
    const code = readFileSync(join(newcomer.folder, 'server.js'), 'utf8')
    t.match(code, "import { verifyClaims } from 'service-node'")
    t.match(code, '// the shop of the newcomer')
    t.match(JSON.parse(readFileSync(join(newcomer.folder, 'package.json'), 'utf8')), {
      dependencies: { 'service-node': `${fleet.baseUrl}/api/v1/sdk/node` },
    })
    const again = await analyzer('apply', '--yes')
    t.match(again, { code: 0, document: { written: [] } }, 'a second time there is nothing to do')

    await newcomer.start()
    t.ok(await isOpenToStrangers(), 'it starts with nothing set, and nobody is locked out')
    const claims = { 'X-Service-Claims': 'a.b.c', 'X-Service-User': ada }
    t.equal((await newcomer.ask('/', claims)).status, 401, 'but nobody is believed')
    t.match(await newcomer.ask('/', { 'X-Service-User': ada }), { text: /a stranger/ })

    const verified = await analyzer('verify')
    t.equal(verified.code, 0, JSON.stringify(verified.document))
    t.match(statusesOf(verified.document['local_checks'] as Check[]), {
      dependency_installed: 'pass',
      middleware_mounted: 'pass',
      key_installed: 'pass',
      secret_not_committed: 'pass',
      health_path: 'pass',
      sealed_paths: 'skip',
      callback_free: 'pass',
      session_cookie_free: 'pass',
      proxy_trust: 'warn',
    })
    const platform = verified.checks.filter(({ source }) => source === 'platform')
    t.match(statusesOf(platform), { middleware_mounted: 'pass', key_installed: 'pass' })

    const live = await analyzer('go-live')
    t.match(live, { code: 0, document: { protection: 'on' } }, live.err)
    t.equal((await visitor.once(`${edge}/`)).status, 302, 'a stranger is asked to sign in')
    await until('closed', async () => (await newcomer.ask('/')).status === 401)
    t.match(await newcomer.ask('/'), { status: 401 }, 'and who goes around the edge gets nothing')

    const { page } = await (await startChromium(t)).page({ viewport: DESK })
    await page.goto(`${edge}/?from=a-friend`)
    await page.fill('[name=username]', 'ada')
    await page.fill('[name=password]', PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${edge}/?from=a-friend`)
    t.equal(await page.textContent('h1'), `Welcome, ${ada}`, 'the shop knows who it is')

    const standing = await analyzer('status')
    t.match(standing.document, {
      tenant: { protection: 'on' },
      applied: { paths: ['package.json', 'server.js', 'service_public.pem'] },
    })
    const complete = await analyzer('complete')
    t.equal(complete.code, 0, JSON.stringify(complete.document))

    t.match(await analyzer('go-back'), { code: 0, document: { protection: 'pass-through' } })
    visitor.forget('shop.localhost')
    await until('open again', isOpenToStrangers)
    t.ok(await isOpenToStrangers(), 'with the middleware still there')

    const undone = await analyzer('undo')
    t.equal(undone.code, 0, undone.err)
    t.equal((await newcomer.run('npm', ['install'])).code, 0)
    await isAsInTheBeginning(t, newcomer, first)
    t.notMatch(fleet.logs(), key)
  },
)

t.test('the same without an edge, in sdk mode', async (t) => {
  const [fleet, newcomer] = await Promise.all([wholeFleet(t), startShop(t)])
  const { ada, key, clientSecret } = await createTenant(fleet, newcomer, 'inner-shop', {
    mode: 'sdk',
    hostnames: [],
  })
  const first = (await newcomer.git('rev-parse', 'HEAD')).trim()
  const service = { SERVICE_CLIENT_SECRET: clientSecret }
  const analyzer = analyzerOf(t, newcomer, key)
  await newcomer.shell(`curl -fsS ${fleet.baseUrl}/api/v1/cli/install | dash`)
  const applied = await analyzer('apply', '--yes', '--install')
  t.equal(applied.code, 0, applied.err)
  if (applied.code !== 0) return
  t.match(
    readFileSync(join(newcomer.folder, 'server.js'), 'utf8'),
    "import { enforce } from 'service-node'",
  )
  await newcomer.start(service)
  t.match(await newcomer.ask('/'), { status: 200, text: /a stranger/ }, 'nobody is locked out')

  await until('verified', async () => (await analyzer('verify')).code === 0) // once it has polled
  t.match(await analyzer('go-live'), { code: 0, document: { protection: 'on' } })
  await until('closed', async () => (await newcomer.ask('/')).status === 401)
  const visitor = fleet.browser()
  const page = await visitor.signIn(`${newcomer.origin}/`, 'ada', PASSWORD)
  t.match(page.text, `Welcome, ${ada}`)
  t.equal((await analyzer('complete')).code, 0)

  t.match(await analyzer('go-back'), { code: 0 })
  await until('open again', async () => (await newcomer.ask('/')).status === 200)
  t.equal((await analyzer('undo')).code, 0)
  t.equal((await newcomer.run('npm', ['install'])).code, 0)
  await isAsInTheBeginning(t, newcomer, first)
})
