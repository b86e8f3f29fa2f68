/** What setup tells of an application that it waits for, and where it puts a secret. */
import * as files from 'node:fs/promises'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs' // prettier-ignore
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { whatIsSeen } from '../../../../../control-plane/downloads/analyzer/commands/setup/wait-for-start.ts'
import { readsEnv } from '../../../../../control-plane/downloads/analyzer/commands/setup/client-secret.ts'
import type { Facts } from '../../../../../control-plane/downloads/analyzer/api.ts'
import { detect } from '../../../../../control-plane/downloads/analyzer/detection/detect.ts'
import { envLinesOf } from '../../../../../control-plane/downloads/analyzer/journal/env-line.ts'
import { openProject } from '../../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'

t.test('it is told what listens, and what to start', async (t) => {
  const facts = { mode: 'gateway', origin: 'http://127.0.0.1:3000' } as Facts
  const at = { start: 'npm start', facts }
  t.equal(whatIsSeen([3000], ['nothing'], at), 'nothing listens on port 3000 yet: run npm start')
  t.match(whatIsSeen([3000], ['open'], at), /port 3000 answers without the middleware: stop that/)
  const other = whatIsSeen([4000, 3000], ['nothing', 'nothing'], at)
  t.equal(
    other,
    'nothing listens on port 4000 or 3000, where the service forwards to: run npm start',
  )
  t.match(whatIsSeen([], [], at), /--port/)
  const behind = { ...at, facts: { ...facts, mode: 'connector' } as Facts }
  t.equal(
    whatIsSeen([4000], ['nothing'], behind),
    'nothing listens on port 4000 yet: run npm start',
    'its origin is only a name',
  )
  t.ok(LIMITS.setupLookMs < LIMITS.setupWaitMsMax)
  t.ok(LIMITS.setupVerifyTriesMax * LIMITS.setupVerifyPauseMs < LIMITS.setupWaitMsMax)
})

const SERVER = "import express from 'express'\nimport { enforce } from 'service-node'\n\nconst service = enforce()\nconst app = express()\napp.use(service.express())\napp.listen(3000)\n" // prettier-ignore
const manifest = (start: string) =>
  JSON.stringify({ type: 'module', scripts: { start }, dependencies: { express: '^5.0.0' } })

async function reads(t: Test, written: Readonly<Record<string, string>>) {
  const root = temporaryFolder(t)
  for (const [path, text] of Object.entries(written)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const project = await openProject(root)
  const [application] = (await detect(project)).applications
  if (application === undefined) throw new Error('nothing was found')
  return readsEnv(project, application, '')
}

t.test('.env is used where it is read before the middleware is made', async (t) => {
  const plain = { 'package.json': manifest('node server.js'), 'server.js': SERVER }
  const withServer = (text: string) => ({ ...plain, 'server.js': text })
  t.equal(await reads(t, plain), false, 'nobody reads it')
  for (const start of ['node --env-file=.env server.js', 'node -r dotenv/config server.js'])
    t.equal(await reads(t, { ...plain, 'package.json': manifest(start) }), true, start)
  t.equal(await reads(t, withServer(`import 'dotenv/config'\n${SERVER}`)), true)
  t.equal(await reads(t, withServer(`${SERVER}process.loadEnvFile('.env')\n`)), false, 'too late')
  const two = { ...plain, 'package.json': manifest('node main.js') }
  const main = (first: string) => `${first}import './server.js'\n`
  t.equal(await reads(t, { ...two, 'main.js': main("import 'dotenv/config'\n") }), true)
})

function start(t: Test) {
  const root = temporaryFolder(t)
  const homeFolder = temporaryFolder(t)
  return { root, homeFolder, lines: envLinesOf({ environment: {}, homeFolder, files }) }
}

t.test('a line in .env comes and goes, byte for byte, and its mode stays', async (t) => {
  for (const before of [null, '', 'A=1\n', 'A=1', 'A=1\r\nB=2\r\n']) {
    const { root, lines, homeFolder } = start(t)
    const at = join(root, '.env')
    if (before !== null) writeFileSync(at, before)
    if (before !== null) chmodSync(at, 0o600)
    t.equal(await lines.add(root, '.env', 'SECRET=scs_1'), 'added')
    t.match(readFileSync(at, 'utf8'), /^SECRET=scs_1\n$/m)
    t.equal(statSync(at).mode & 0o777, 0o600)
    const kept = readFileSync(
      join(homeFolder, '.local/state/service-analyzer/env-lines.json'),
      'utf8',
    )
    t.notMatch(kept, 'scs_1', 'the secret is not remembered')
    t.strictSame(await lines.takeOut(root), ['.env'])
    t.equal(existsSync(at) ? readFileSync(at, 'utf8') : null, before)
    t.strictSame(await lines.takeOut(root), [], 'once')
  }
})

t.test('what a person has put there since stays, and a changed line is theirs', async (t) => {
  const { root, lines } = start(t)
  const at = join(root, '.env')
  writeFileSync(at, 'A=1', { mode: 0o600 })
  await lines.add(root, '.env', 'SECRET=scs_1')
  writeFileSync(at, `${readFileSync(at, 'utf8')}B=2\n`)
  t.strictSame(await lines.takeOut(root), ['.env'])
  t.equal(readFileSync(at, 'utf8'), 'A=1\nB=2\n')
  await lines.add(root, '.env', 'SECRET=scs_1')
  writeFileSync(at, 'SECRET=mine\n')
  t.strictSame(await lines.takeOut(root), [])
  t.equal(readFileSync(at, 'utf8'), 'SECRET=mine\n')
})

t.test(
  'a secret goes into no file that others read, but on Windows, where modes say nothing',
  async (t) => {
    const { root, homeFolder, lines } = start(t)
    const at = join(root, '.env')
    for (const mode of [0o644, 0o640, 0o604, 0o620]) {
      writeFileSync(at, 'A=1\n')
      chmodSync(at, mode)
      t.equal(await lines.add(root, '.env', 'SECRET=scs_1'), 'readable_by_others', mode.toString(8))
      t.equal(readFileSync(at, 'utf8'), 'A=1\n')
    }
    const onWindows = envLinesOf({ environment: {}, homeFolder, files, platform: 'win32' })
    t.equal(await onWindows.add(root, '.env', 'SECRET=scs_1'), 'added')
  },
)

t.test('a link is not written through', async (t) => {
  const { root, lines } = start(t)
  const elsewhere = join(temporaryFolder(t), 'env')
  writeFileSync(elsewhere, 'A=1\n')
  symlinkSync(elsewhere, join(root, '.env'))
  t.equal(await lines.add(root, '.env', 'SECRET=scs_1'), 'impossible')
  t.equal(readFileSync(elsewhere, 'utf8'), 'A=1\n')
})
