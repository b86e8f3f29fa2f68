/** What was written is loaded where that is safe, so that nobody's first start is a crash. */
import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runNode } from '../../../../../control-plane/downloads/analyzer/first-start/node-child.ts'
import {
  dryRun,
  type DryRunWish,
} from '../../../../../control-plane/downloads/analyzer/first-start/dry-run.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { installSdk } from '../../../../support/installed-sdk.ts'

const installed = installSdk(t)
/** tap puts itself into every process that a test starts, and this one lets nobody in. */
const skip = (process.env['NODE_OPTIONS'] ?? '').includes('processinfo') && 'under tap itself'

const BEFORE = "import express from 'express'\n\nconst app = express()\napp.listen(3000)\n"
const AFTER = `import express from 'express'
import { verifyClaims } from 'service-node'

const service = verifyClaims()
const app = express()
app.use(service.express())
app.listen(3000)
`
const COMMONJS = AFTER.replaceAll(/import (.*) from '(.*)'/g, "const $1 = require('$2')")

interface Edit {
  readonly path: string
  readonly before?: string | null
  readonly after: string
}

async function loaded(t: Test, edits: readonly Edit[], wish: Partial<DryRunWish> = {}) {
  const { folder } = await installed
  const root = wish.root ?? mkdtempSync(join(folder, 'project-'))
  for (const { path, after } of edits) writeFileSync(join(root, path), after)
  return dryRun({
    packageType: 'module',
    baseUrl: 'https://id.example.test',
    tenantId: 'acme',
    isInstalled: true,
    environment: { PATH: process.env['PATH'] },
    ...wish,
    root,
    edits: edits.map((edit) => ({ before: BEFORE, ...edit })),
  })
}

t.test('what was written loads, as a module and as CommonJS', { skip }, async (t) => {
  t.strictSame(await loaded(t, [{ path: 'server.js', after: AFTER }]), {
    status: 'pass',
    faults: [],
  })
  const required = { path: 'server.cjs', before: '', after: COMMONJS }
  t.strictSame(await loaded(t, [required], { packageType: undefined }), {
    status: 'pass',
    faults: [],
  })
  const enforced = AFTER.replaceAll('verifyClaims', 'enforce')
  t.match(await loaded(t, [{ path: 'server.ts', after: enforced }]), { status: 'pass' })
})

t.test('nothing of the application itself is run', { skip }, async (t) => {
  const mark = join(temporaryFolder(t), 'ran')
  const line = `import { writeFileSync } from 'node:fs'\nwriteFileSync('${mark}', '')\n`
  const edit = { path: 'server.js', before: line + BEFORE, after: line + AFTER }
  t.match(await loaded(t, [edit]), { status: 'pass' })
  t.notOk(existsSync(mark))
})

t.test(
  'the process that loads it opens nothing, writes nothing and has no key',
  { skip },
  async (t) => {
    const { folder } = await installed
    const root = mkdtempSync(join(folder, 'planted-'))
    const at = join(root, 'node_modules/service-node')
    const mark = join(temporaryFolder(t), 'ran')
    for (const [what, code] of [
      ['a port', "require('net').createServer().listen(0)"],
      ['a connection', "require('net').connect(9, '127.0.0.1')"],
      ['a name of another machine', "require('dns').lookup('example.test', () => {})"],
      ['that name by a promise', "require('dns/promises').resolve4('example.test')"],
      ['a datagram', "require('dgram').createSocket('udp4').send('x', 9, '127.0.0.1')"],
      ['a thread', "new (require('worker_threads').Worker)('', { eval: true })"],
      ['a file', `require('fs').writeFileSync('${mark}', '')`],
      ['a program', "require('child_process').execSync('true')"],
      ['a secret', "if (process.env.SERVICE_CLIENT_SECRET === 'dry-run') throw new Error('none')"],
      ['the shell', "if (!process.env.AWS_SECRET_ACCESS_KEY) throw new Error('none')"],
      ['the key', "if (!process.env.SERVICE_ANALYZER_KEY) throw new Error('no key')"],
      ['what else Node was told to load', "if (!process.env.NODE_OPTIONS) throw new Error('none')"],
    ] as const) {
      await t.test(what, async (t) => {
        mkdirSync(at, { recursive: true })
        writeFileSync(
          join(at, 'index.js'),
          `${code}\nexports.verifyClaims = () => ({ express() {} })\n`,
        )
        const environment = {
          PATH: process.env['PATH'],
          SERVICE_ANALYZER_KEY: 'sak_of_nobody',
          SERVICE_CLIENT_SECRET: 'scs_of_nobody',
          AWS_SECRET_ACCESS_KEY: 'of nobody',
          NODE_OPTIONS: '--no-warnings',
        }
        const edit = { path: 'server.js', before: '', after: COMMONJS }
        const { status, faults } = await loaded(t, [edit], {
          root,
          packageType: 'commonjs',
          environment,
        })
        t.equal(status, 'fail')
        t.equal(faults.length, 1)
      })
    }
    t.notOk(existsSync(mark))
  },
)

t.test(
  'it reads the project and its packages, also where a workspace keeps them',
  { skip },
  async (t) => {
    const workspace = temporaryFolder(t)
    const root = join(workspace, 'apps/web')
    const store = join(workspace, 'node_modules/.store')
    mkdirSync(root, { recursive: true })
    for (const name of ['service-node', 'beside']) mkdirSync(join(store, name), { recursive: true })
    const outside = join(workspace, 'secret.txt')
    writeFileSync(outside, 'of somebody else')
    symlinkSync(join(store, 'service-node'), join(workspace, 'node_modules/service-node'))
    writeFileSync(join(store, 'beside/index.js'), '')
    const attempt = (code: string) => {
      const text = `${code}\nexports.verifyClaims = () => ({ express() {} })\n`
      writeFileSync(join(store, 'service-node/index.js'), text)
      const edit = {
        path: 'server.js',
        before: "const express = require('express')\n",
        after: COMMONJS,
      }
      return loaded(t, [edit], { root, packageType: 'commonjs' })
    }
    t.match(await attempt("require('../beside/index.js')"), { status: 'pass', faults: [] })
    t.strictSame(await attempt(`require('fs').readFileSync('${outside}')`), {
      status: 'skip',
      faults: [],
      reason: 'service-node reads files outside the project, which a dry run does not',
    })
  },
)

t.test('a package.json that is none is a fault, and no end of the program', { skip }, async (t) => {
  const root = temporaryFolder(t)
  writeFileSync(join(root, 'package.json'), '{')
  const edit = {
    path: 'server.js',
    before: "const express = require('express')\n",
    after: COMMONJS,
  }
  const { status, faults } = await loaded(t, [edit], { root, packageType: 'commonjs' })
  t.equal(status, 'fail')
  t.match(faults[0]?.detail, /Invalid package config|Cannot find module/)
})

t.test('where Node cannot confine a process nothing is loaded, and it says why', async (t) => {
  const mark = join(temporaryFolder(t), 'ran')
  const root = mkdtempSync(join((await installed).folder, 'old-'))
  mkdirSync(join(root, 'node_modules/service-node'), { recursive: true })
  const code = `require('fs').writeFileSync('${mark}', '')\n`
  writeFileSync(join(root, 'node_modules/service-node/index.js'), code)
  const edit = { path: 'server.js', before: '', after: COMMONJS }
  const wish = { root, packageType: 'commonjs' as const, nodeFlags: new Set<string>() }
  const { status, reason } = await loaded(t, [edit], wish)
  t.equal(status, 'skip')
  t.match(reason, /cannot confine a process \(--permission\)/)
  t.notOk(existsSync(mark))
})

t.test('what would crash is said, with its file', { skip }, async (t) => {
  const fault = async (edit: Edit, wish: Partial<DryRunWish> = {}) => {
    const { status, faults } = await loaded(t, [edit], wish)
    t.equal(status, 'fail')
    t.equal(faults.length, 1, JSON.stringify(faults))
    return `${faults[0]?.path} ${faults[0]?.detail}`
  }
  t.match(
    await fault({ path: 'server.js', after: `${AFTER}const app = 1\n` }),
    /^server\.js Node\.js cannot parse it: SyntaxError: .*'app' has already been declared/,
  )
  t.equal(
    await fault({
      path: 'server.js',
      after: AFTER.replace('import express', "import x from 'nowhere-x'\nimport express"),
    }),
    'server.js imports nowhere-x, which cannot be found from there',
  )
  t.equal(
    await fault({ path: 'server.js', after: `import './service.js'\n${AFTER}` }),
    'server.js imports ./service.js, which cannot be found from there',
  )
  t.match(
    await fault({ path: 'server.js', after: AFTER }, { baseUrl: 'no address' }),
    /^server\.js .*baseUrl/,
  )
  t.match(
    await fault({
      path: 'server.js',
      after: AFTER.replace('service.express()', 'service.hapi()').replace(
        'verifyClaims',
        'verifyClaims, verifyNobody',
      ),
    }),
    /^server\.js .*verifyNobody/,
  )
  t.equal(
    await fault({ path: 'server.js', after: AFTER }, { root: temporaryFolder(t) }),
    'server.js imports service-node, which cannot be found from there',
  )
})

t.test('a key file that holds no keys is found before the start', { skip }, async (t) => {
  const key = { path: 'service_public.pem', before: null, after: 'not a key\n' }
  const { status, faults } = await loaded(t, [{ path: 'server.js', after: AFTER }, key])
  t.equal(status, 'fail')
  t.match(faults, [{ path: 'server.js' }])
})

t.test('what Node did not read before is left to who reads it', { skip }, async (t) => {
  const jsx = 'const page = <p>hello</p>\n'
  const edit = { path: 'server.js', before: BEFORE + jsx, after: AFTER + jsx }
  t.match(await loaded(t, [edit]), { status: 'pass' })
})

t.test('before its package is installed nothing is loaded, and nothing is wrong', async (t) => {
  const edit = { path: 'server.js', after: AFTER }
  const wish = { root: temporaryFolder(t), isInstalled: false }
  t.strictSame(await loaded(t, [edit], wish), { status: 'skip', faults: [] })
  t.match(await loaded(t, [{ path: 'views.py', after: 'import x\n' }]), { status: 'skip' })
})

t.test('what a process says is kept up to a limit, and it ends within one', async (t) => {
  const folder = temporaryFolder(t)
  const code = "process.stdout.write('x'.repeat(1_000_000))"
  const { out } = await runNode({ args: ['--eval', code], folder, environment: {} })
  t.ok(out.length >= LIMITS.dryRunSaysCharactersMax && out.length < 1_000_000)
  t.ok(LIMITS.dryRunMsMax > 0)
  const missing = await runNode({ args: [], folder: join(folder, 'gone'), environment: {} })
  t.equal(missing.code, null)
})
