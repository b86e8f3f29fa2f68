/** Whether what the middleware is made of is named and there; and that no check takes another along. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { VERSION } from '../../../../../shared/version.ts'
import { BASE_URL, check, checkAll, folderWith } from './project-here.ts'

const NAMED = '{"dependencies":{"service-node":"https://service.example.test/api/v1/sdk/node"}}'
const installed = (version: string, at = '') => ({
  [`${at}node_modules/service-node/package.json`]: JSON.stringify({ version }),
})

t.test('service-node is named, installed, and of the version of the service', async (t) => {
  const look = (files: Record<string, string>, application = {}) =>
    check(t, 'dependency_installed', files, { application })
  t.match(await look({ 'package.json': NAMED, ...installed(VERSION) }), {
    status: 'pass',
    detail: `service-node ${VERSION} is installed.`,
  })
  t.match(await look({ 'package.json': '{}' }), {
    status: 'fail',
    nextAction: `npm install ${BASE_URL}/api/v1/sdk/node`,
  })
  t.match(await look({ 'package.json': '{}' }, { packageManager: 'pnpm' }), {
    nextAction: `pnpm add ${BASE_URL}/api/v1/sdk/node`,
  })
  t.match(await look({ 'package.json': NAMED }), {
    status: 'fail',
    detail: /listed in package\.json, but not installed/,
    nextAction: 'npm install',
  })
  t.match(await look({ 'package.json': NAMED, ...installed('0.0.1') }), {
    status: 'warn',
    detail: /0\.0\.1 is installed/,
  })
  t.match(await look({ 'package.json': NAMED, ...installed('\u001b[31m') }), { status: 'fail' })
  t.match(await look({ 'package.json': NAMED, '.pnp.cjs': '' }), { status: 'pass' })
  t.match(
    await look(
      { 'apps/web/package.json': NAMED, 'package.json': '{}', ...installed(VERSION) },
      { folder: 'apps/web' },
    ),
    { status: 'pass' },
    'in the folder above, as Node looks for it',
  )
  t.match(await look({ 'package.json': '{' }), { status: 'fail' })
})

t.test('the code to paste has what it imports', async (t) => {
  const rows: [string, Record<string, string>, string][] = [
    ['django', { 'requirements.txt': 'django\nPyJWT[crypto]==2.9\n' }, 'pass'],
    ['flask', { 'pyproject.toml': 'dependencies = ["pyjwt[crypto]"]' }, 'pass'],
    ['fastapi', { 'requirements.txt': 'fastapi\n' }, 'fail'],
    ['django', {}, 'fail'],
    ['rails', { Gemfile: "gem 'jwt'\n" }, 'pass'],
    ['rails', { Gemfile: "gem 'rails'\n" }, 'fail'],
    ['laravel', { 'composer.json': '{"require":{"laravel/framework":"^12"}}' }, 'pass'],
    ['laravel', { 'composer.json': '{}' }, 'fail'],
    ['spring', {}, 'skip'],
    ['go', {}, 'skip'],
  ]
  for (const [framework, files, status] of rows)
    t.match(
      await check(t, 'dependency_installed', files, {
        application: { framework: framework as never },
      }),
      { status },
      framework,
    )
})

t.test(
  'every check says something in an empty folder, within the limits of a report',
  async (t) => {
    const { checks } = await checkAll(folderWith(t, {}))
    t.equal(checks.length, 11)
    t.equal(new Set(checks.map(({ check }) => check)).size, 11)
    for (const { check, detail, nextAction } of checks) {
      t.match(check, /^[a-z_]{1,64}$/)
      t.match(detail, /\w{3}.*\.$/, check)
      t.ok(detail.length + nextAction.length < 1000)
    }
  },
)

t.test('a check that breaks takes no other along', async (t) => {
  const root = folderWith(t, { 'package.json': NAMED })
  mkdirSync(join(root, 'node_modules'))
  const git = { ask: () => Promise.reject(new Error('the machine is on fire')) }
  const { of } = await checkAll(root, { world: { git } })
  t.match(of('secret_not_committed'), { status: 'fail', detail: /could not run: the machine/ })
  t.match(of('dependency_installed'), { detail: /not installed/ })
})
