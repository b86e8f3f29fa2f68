// long: the whole way of the downloaded program, and back
/** From a stranger's project to protected and back, with the program as it is downloaded. */
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  hashOf,
  readJournal,
  writeJournal,
} from '../../../../control-plane/downloads/analyzer/journal/record.ts'
import { journalWorld } from '../../../../control-plane/downloads/analyzer/journal/world.ts'
import { atTerminal, plainEnvironment, startAnalyzer } from '../../../support/analyzer-program.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { plant } from '../../../support/journal-trees.ts'
import { commitAll, EXPRESS, MONOREPO, projectOf, treeOf } from './some-projects.ts'

const analyzer = startAnalyzer(t)
const NO_KEY = {}

async function start(t: Test, files: Readonly<Record<string, string>> = EXPRESS, settings = {}) {
  const own = await (await analyzer).tenant(t, settings)
  const folder = projectOf(t, files)
  const here = (environment?: Record<string, string>) => ({
    folder,
    ...(environment && { environment }),
  })
  return { ...own, folder, here, nodes: (await analyzer).nodes }
}

void t.test('analyze looks and writes nothing, without a key and on every Node here', async (t) => {
  const { run, document, folder, here, nodes } = await start(t)
  const before = treeOf(folder)
  for (const [major, node] of nodes) {
    const { code, out } = await run(['analyze'], { ...here(NO_KEY), node })
    t.equal(code, 0, `Node ${major}`)
    t.match(out, /^this folder \(express\).*server\.js:3.*change {2}server\.js/s)
    t.match(out, /\n {2}service-analyzer apply\n$/)
  }
  const { read } = await document(['analyze', folder], { environment: NO_KEY })
  t.match(read, {
    applications: [{ folder: '', framework: 'express', port: 3000, health_path: '/healthz' }],
    next_step: { command: `service-analyzer apply ${folder}` },
  })
  t.strictSame(treeOf(folder), before)
})

void t.test(
  'apply shows every change, writes, has nothing left to do, and undo takes it back',
  async (t) => {
    const { run, document, folder, key, tenantId, ...own } = await start(t)
    const node = process.execPath // all of it once as the program that it is
    const here = (environment?: Record<string, string>) => ({ ...own.here(environment), node })
    const before = treeOf(folder)
    const dry = await run(['apply', '--dry-run'], here())
    t.match(dry, { code: 0, out: '+app.use(service.express())' })
    t.match(dry.out, '+++ b/service_public.pem')
    t.match(dry.out, /Good to know:.*SERVICE_BASE_URL/s)
    t.strictSame(treeOf(folder), before)

    const asked = await run(['apply'], here())
    t.match(asked, { code: 2, err: /no terminal to ask.*--yes/s })
    t.strictSame(treeOf(folder), before)

    const { read } = await document(['apply', '--yes'], here())
    t.strictSame([...(read['written'] as string[])].sort(), ['package.json', 'server.js', 'service_public.pem']) // prettier-ignore
    t.match(read, { plan: { source: 'rules', edits: [{ diff: /^--- a/ }] }, installed: null })
    t.match(read, { next_step: { command: 'npm install' } })
    const code = readFileSync(join(folder, 'server.js'), 'utf8')
    t.match(code, `tenantId: process.env.SERVICE_TENANT_ID ?? '${tenantId}',`)
    t.match(readFileSync(join(folder, 'service_public.pem'), 'utf8'), 'BEGIN PUBLIC KEY')
    t.notMatch(JSON.stringify(treeOf(folder)), key, 'the key is in none of the files')

    const second = await run(['apply', '--yes'], here())
    t.match(second, { code: 0, out: /Already integrated/ })
    t.match((await run(['status'], here())).out, /reverts it:\n.*server\.js/s)
    const analyzed = await run(['analyze'], here(NO_KEY))
    t.match(analyzed.out, /Already integrated.*service-analyzer verify\n$/s)

    const undone = await run(['undo'], here(NO_KEY))
    t.match(undone, { code: 0, out: /as it was before apply/ })
    t.match(undone.out.replaceAll('\n', ' '), /Not reverted: manual steps.* lock file/)
    t.strictSame(treeOf(folder), before)
    t.match(await run(['undo'], here(NO_KEY)), { code: 0, out: /nothing to undo/ })
  },
)

void t.test('an apply that was cut off is taken back, and not by a dry run', async (t) => {
  const { run, folder, home, here } = await start(t)
  const before = treeOf(folder)
  await run(['apply', '--yes'], here())
  await cutOff(folder, home)
  const halfDone = treeOf(folder)

  t.match(await run(['apply', '--dry-run'], here()), { code: 0 })
  t.strictSame(treeOf(folder), halfDone, 'whoever only looks changes nothing')
  const asked = await run(['apply'], here())
  t.match(asked, {
    code: 2,
    err: /interrupted and has to be reverted.*server\.js.*restored.*--yes/s,
  })
  t.strictSame(treeOf(folder), halfDone, 'and nobody was asked')
  t.match(await run(['apply', '--yes'], here()), { code: 1, err: /has been reverted/ })
  t.strictSame(treeOf(folder), before)
})

/** As the process would have left it that was killed right before its last step. */
async function cutOff(folder: string, home: string) {
  const world = journalWorld({}, home)
  const standing = await readJournal(folder, world.files)
  if (standing.kind !== 'journal') throw new Error(standing.kind)
  await writeJournal(folder, { ...standing.journal, state: 'writing' }, world)
}

const STOLEN = '{"name":"shop","scripts":{"preinstall":"touch /tmp/owned"}}'

void t.test(
  'a journal that came with the project is not believed: apply and undo say what it would do',
  async (t) => {
    const { run, folder, here } = await start(t)
    const now = readFileSync(join(folder, 'package.json'))
    const server = readFileSync(join(folder, 'server.js'))
    const file = (path: string, before: string | null, after: Buffer) => ({
      path,
      before: before && { sha256: hashOf(Buffer.from(before)), mode: 0o755 },
      after: { sha256: hashOf(after) },
    })
    plant(folder, [
      {
        path: '.service/journal.json',
        bytes: JSON.stringify({
          version: 1,
          state: 'writing',
          written_at: '2026-11-21T00:00:00.000Z',
          token: 'a'.repeat(16),
          folders: [],
          files: [file('package.json', STOLEN, now), file('server.js', null, server)],
          seal: 'a'.repeat(64),
        }),
      },
      { path: '.service/originals/0', bytes: STOLEN, mode: 0o4755 },
    ])
    const planted = treeOf(folder)
    for (const command of [['apply'], ['apply', '--yes'], ['undo'], ['undo', '--yes']]) {
      const { code, err } = await run(command, here())
      t.equal(code, 1, command.join(' '))
      t.match(err, /not written here by you.*package\.json.*restored.*server\.js.*deleted/s)
      t.match(err, 'service-analyzer undo --foreign')
      t.strictSame(treeOf(folder), planted, command.join(' '))
    }
    const believed = await run(['undo', '--foreign', '--yes'], here())
    t.match(believed, { code: 1, err: /package\.json may not be changed/ })
    t.same(readFileSync(join(folder, 'package.json')), now, 'a believed one brings no script')
    t.ok(existsSync(join(folder, 'server.js')))
  },
)

void t.test(
  'the service tells the mode, an option overrules it, and offline it is the edge',
  async (t) => {
    const { run, here } = await start(t, EXPRESS, { mode: 'sdk' })
    t.match((await run(['apply', '--dry-run'], here())).out, 'enforce({')
    t.match((await run(['apply', '--dry-run', '--mode', 'gateway'], here())).out, 'verifyClaims({')
    t.match((await run(['apply', '--dry-run'], here(NO_KEY))).out, 'verifyClaims()')
    const secret = { SERVICE_CLIENT_SECRET: 'scs_a' }
    const told = 'Install the package, then restart the application:'
    t.match((await run(['apply', '--yes'], here(secret))).out, `\n${told}`)
    await run(['undo', '--yes'], here())
    const { out } = await run(['apply', '--yes'], here())
    t.match(out, '\nSet SERVICE_CLIENT_SECRET, install the package, then restart the application:')
  },
)

void t.test(
  'a service that is away is told, and the rules go on; a wrong key stops it',
  async (t) => {
    const { run, key, here } = await start(t)
    const away = { SERVICE_ANALYZER_KEY: key, SERVICE_BASE_URL: 'http://nobody.invalid' }
    const offline = await run(['apply', '--dry-run'], here(away))
    t.match(offline, { code: 0, out: '+app.use(service.express())' })
    t.match(
      offline.err.replaceAll('\n', ' '),
      /does not resolve\. Continuing with the built-in rules/,
    )
    const wrong = await run(['apply', '--yes'], here({ SERVICE_ANALYZER_KEY: `${key}x` }))
    t.match(wrong, { code: 2, err: /does not accept the analyzer key/ })
  },
)

void t.test('what may not be written over is refused before anybody is asked', async (t) => {
  const { run, document, folder, here } = await start(t)
  appendFileSync(join(folder, 'server.js'), '// mine\n')
  const before = treeOf(folder)
  const dirty = await document(['apply', '--yes'], here())
  t.match(dirty, { code: 1, read: { problem: { code: 'edits_refused' } } })
  t.match(dirty.err, /work tree has changes.*commit or stash/s)
  t.match(await run(['apply', '--dry-run'], here()), { code: 1, out: '+app.use' })
  t.strictSame(treeOf(folder), before)
})

void t.test('work that was done since is kept beside what undo takes back', async (t) => {
  const { run, folder, here } = await start(t)
  await run(['apply', '--yes'], here())
  appendFileSync(join(folder, 'server.js'), '// mine\n')
  const refused = await run(['undo'], here())
  t.match(refused, { code: 1, err: /has changed since.*service-analyzer\s+undo\s+--yes/s })
  t.match(await run(['undo', '--yes'], here()), { code: 0, out: /kept/ })
  t.equal(readFileSync(join(folder, 'server.js'), 'utf8'), EXPRESS['server.js'])
})

void t.test('of several applications one has to be named, or all that are meant', async (t) => {
  const { run, document, folder, here } = await start(t, MONOREPO)
  const unclear = await document(['apply', '--yes'], here())
  t.match(unclear, { code: 2, read: { problem: { code: 'application_unclear' } } })
  t.match(unclear.err, /--app apps\/api \(express\)\n--app apps\/shop \(express\)/)
  t.match(await run(['apply', '--yes', '--app', 'apps/shp'], here()), {
    code: 2,
    err: /No application found in "apps\/shp"; did you mean apps\/shop\?/,
  })
  const one = await document(['apply', '--dry-run', '--app', './apps/api/'], here())
  t.strictSame(one.read['applications'], ['apps/api'])
  const both = await document(['apply', '--yes', '--app=apps/api', '--app=apps/shop'], here())
  t.equal(both.code, 0, both.err)
  for (const app of ['api', 'shop'])
    t.match(readFileSync(join(folder, `apps/${app}/server.js`), 'utf8'), 'service.express()')
  t.match(await run(['undo'], here()), { code: 0 })
})

void t.test('of several in one folder each is named by its file as well', async (t) => {
  const served = (port: number) =>
    `const express = require('express')\nconst app = express()\napp.listen(${port})\n`
  const { document, here, folder } = await start(t, {
    'package.json': JSON.stringify({
      scripts: { start: 'node main.js' },
      dependencies: { express: '^5.1.0' },
    }),
    'main.js': `require('./shop')\nrequire('./staff')\n`,
    'shop.js': served(3000),
    'staff.js': served(3001),
  })
  const unclear = await document(['apply', '--yes'], here())
  t.match(unclear.err, /--app \.:shop\.js \(express\)\n--app \.:staff\.js \(express\)/)
  const staff = await document(['apply', '--yes', '--app', '.:staff.js'], here())
  t.equal(staff.code, 0, staff.err)
  t.match(readFileSync(join(folder, 'staff.js'), 'utf8'), 'service.express()')
  t.equal(readFileSync(join(folder, 'shop.js'), 'utf8'), served(3000))
  t.match(await document(['apply', '--yes', '--app', '.:stuff.js'], here()), {
    code: 2,
    err: /No application found in "\.:stuff\.js"; did you mean \.:staff\.js\?/,
  })
})

/** What npm does, as far as a dry run looks. */
const INSTALLS = `mkdir -p node_modules/service-node
echo 'exports.verifyClaims = () => ({ express() {}, async ready() {} })' > node_modules/service-node/index.js
`

void t.test('what would crash at its first start is said, and can be taken back', async (t) => {
  const { run, document, folder, here, home, program, key } = await start(t)
  const before = treeOf(folder)
  const npm = join(home, 'npm')
  writeFileSync(npm, '#!/bin/sh\n') // it says that all went well
  chmodSync(npm, 0o755)
  const path = `${home}:/usr/local/bin:/usr/bin:/bin`
  const environment = { ...plainEnvironment(home), SERVICE_ANALYZER_KEY: key, PATH: path }
  const { code, read } = await document(['apply', '--yes', '--install'], here(environment))
  t.equal(code, 1)
  t.match(read, {
    problem: {
      code: 'start_fails',
      advice: ['server.js imports service-node, which cannot be found from there', String],
    },
    next_step: { command: 'service-analyzer undo' },
  })
  t.ok(
    existsSync(join(folder, '.service/journal.json')),
    'what was written stays until it is asked',
  )
  t.match(await run(['undo'], here()), { code: 0 })

  const line = `'${process.execPath}' '${program}' apply --install`
  const session = atTerminal(t, line, { columns: 80, environment, folder })
  await session.shown('Write these 3 files? [y/N]')
  session.type('y\r')
  await session.shown('Revert the changes? [y/N]')
  session.type('y\r')
  t.match(await session.ended, { code: 1, screen: 'Every file is as it was before.' })
  t.strictSame(treeOf(folder), before)
})

void t.test('install runs the package manager, which is given no key', async (t) => {
  const { run, folder, here, home, key } = await start(t)
  const log = join(home, 'npm.log')
  const npm = join(home, 'npm')
  writeFileSync(npm, `#!/bin/sh\n{ echo "$@"; pwd; env; } > '${log}'\necho on-stdout\n${INSTALLS}exit \${NPM_ENDS:-0}\n`) // prettier-ignore
  chmodSync(npm, 0o755)
  const environment = { SERVICE_ANALYZER_KEY: key, PATH: `${home}:/usr/local/bin:/usr/bin:/bin` }
  const node = process.execPath // what npm prints goes to the standard error of a process
  const failing = here({ ...environment, NPM_ENDS: '7' })
  const failed = await run(['apply', '--yes', '--install'], { ...failing, node })
  t.match(failed, { code: 1, err: /npm failed with 7; the written changes stay/ })
  await run(['undo'], here())
  const wish = { ...here(environment), node }
  const done = await run(['apply', '--yes', '--install', '--json'], wish)
  const told = JSON.parse(done.out) as Record<string, unknown>
  t.match(told, { exit_code: 0, installed: 'npm install', dry_run: /pass|skip/ })
  t.match(done.err, 'on-stdout', 'its output is beside the document')
  const said = readFileSync(log, 'utf8')
  t.match(said, `install\n${folder}\n`)
  t.notMatch(said, key)
  await run(['undo'], here())
  t.match(await run(['apply', '--yes'], here()), { code: 0, out: / {2}npm install\n$/ })
})

void t.test('quiet writes without a word', async (t) => {
  const { run, here } = await start(t)
  t.match(await run(['apply', '--yes', '--quiet'], here()), { code: 0, out: '', err: '' })
})

void t.test('at a terminal it asks, and no is no', async (t) => {
  const { folder, home, program, key } = await start(t)
  const before = treeOf(folder)
  const environment = { ...plainEnvironment(home), SERVICE_ANALYZER_KEY: key }
  const at = (words: string) =>
    atTerminal(t, `'${process.execPath}' '${program}' ${words}`, { columns: 80, environment, folder }) // prettier-ignore
  for (const [keys, code] of [
    ['\r', 1],
    ['n\r', 1],
    ['yess\r', 1],
    ['\u0003', 130],
    ['\u0004', 130],
  ] as const) {
    const session = at('apply --quiet')
    await session.shown('Write these 3 files? [y/N]')
    session.type(keys)
    const { code: ended, screen } = await session.ended
    t.equal(ended, code, JSON.stringify(keys))
    t.match(screen, '+app.use(service.express())', 'nobody agrees to what was not shown')
    t.strictSame(treeOf(folder), before)
  }
  const session = at('apply')
  await session.shown('[y/N]')
  session.type('y\r')
  await session.shown('Run npm install now? [y/N]')
  session.type('n\r')
  t.equal((await session.ended).code, 0)
  t.ok(existsSync(join(folder, '.service/journal.json')))
})

void t.test('at a terminal one of several applications is chosen by its number', async (t) => {
  const { folder, home, program } = await start(t, MONOREPO)
  const line = `'${process.execPath}' '${program}' apply --dry-run`
  const choose = async (keys: string) => {
    const environment = plainEnvironment(home)
    const session = atTerminal(t, line, { columns: 80, environment, folder })
    await session.shown('Which one? [1-2]')
    session.type(keys)
    return session.ended
  }
  t.match(await choose('2\r'), {
    code: 0,
    screen: /apps\/shop \(express\)\S*, from the built-in rules/,
  })
  for (const keys of ['3\r', '0\r', '\r', 'x\r']) t.match(await choose(keys), { code: 1 })
})

void t.test('verify checks here, reports it, and has the service look', async (t) => {
  const { document, run, folder, here } = await start(t)
  await run(['apply', '--yes'], here())
  commitAll(folder)
  const { read, code } = await document(['verify'], here())
  t.equal(code, 1)
  t.match(read, { application: '.', status: 'fail' })
  const names = (read['local_checks'] as { check: string }[]).map(({ check }) => check)
  t.ok(names.includes('middleware_mounted') && names.includes('key_installed'), names.join())
  const all = read['checks'] as { check: string; source: string }[]
  t.ok(all.some(({ source }) => source === 'self_report'))
  t.ok(all.some(({ source }) => source === 'platform'))
  const elsewhere = await run(['verify'], { folder: temporaryFolder(t) })
  t.match(elsewhere.err, /No application found in this folder, so only the service checks/)
})

void t.test('where code is not edited, file, place, code and commands are shown', async (t) => {
  const FLASK = {
    'requirements.txt': 'flask==3.0\n',
    'app.py': 'from flask import Flask\n\napp = Flask(__name__)\n',
  }
  const { run, here, folder } = await start(t, FLASK)
  const { code, out } = await run(['apply', '--yes'], here())
  t.equal(code, 0)
  t.match(out, /Manual step: app\.py:3\n.*\n {4}.*before_request/s)
  t.match(out, /Run this yourself:\n {2}pip install/)
  t.match(out, /Do the manual steps.*\n {2}service-analyzer verify\n$/s)
  t.equal(readFileSync(join(folder, 'app.py'), 'utf8'), FLASK['app.py'])
})
