/** What setup tells of an application that it waits for, and where it puts a secret. */
import * as files from 'node:fs/promises'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs' // prettier-ignore
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { whatIsSeen } from '../../../../../control-plane/downloads/analyzer/commands/setup/wait-for-start.ts'
import { connectorStep } from '../../../../../control-plane/downloads/analyzer/commands/setup/connector-step.ts'
import { untilPublished } from '../../../../../control-plane/downloads/analyzer/commands/setup/until-published.ts'
import { createSteps } from '../../../../../control-plane/downloads/analyzer/commands/setup/steps.ts'
import type { Task } from '../../../../../control-plane/downloads/analyzer/commands/command.ts'
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
  t.ok(`⠋ Waiting … ${whatIsSeen([3000], ['nothing'], at)}`.length < 79, 'all in one line')
  t.match(whatIsSeen([3000], ['open'], at), /port 3000 runs without the middleware: restart it/)
  t.match(whatIsSeen([3000], ['keyless'], at), /port 3000 has the middleware, but no public keys/)
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

/** A terminal that takes notes, and a service that tells so many connectors each time it is asked. */
function connecting(counts: readonly (number | null)[]) {
  const said: string[] = []
  let [asked, nowMs] = [0, 0]
  const task = {
    show: (text: string) => void said.push(text),
    access: { baseUrl: () => ({ text: 'https://id.example.test' }) },
    world: { nowMs: () => (nowMs += LIMITS.setupWaitMsMax / 3) },
    terminal: {
      columns: 80,
      paint: (_style: string, text: string) => text,
      remark: (text: string) => void said.push(text),
      during: (label: string, work: () => Promise<unknown>) => (said.push(label), work()),
    },
  } as unknown as Task
  const steps = createSteps(task)
  const api = {
    facts: async () => ({ connectors_connected: counts[asked++] ?? counts.at(-1) }) as Facts,
  }
  return { task, steps, said, api }
}

t.test('in connector mode the join command is shown, and a connector waited for', async (t) => {
  t.notOk(
    connecting([0])
      .steps.fields()
      .some(({ step }) => step === 'connector'),
  )
  const { task, steps, said, api } = connecting([0, 0, 1])
  steps.withConnector()
  t.equal(steps.fields().length, 10)
  await connectorStep(task, steps, { tenantId: 'acme', port: 4000, api })
  const text = said.join('\n')
  t.match(text, 'curl -fsSL https://id.example.test/api/v1/connector/install | sh')
  t.match(text, 'service-connector join --origin http://127.0.0.1:4000\n')
  t.match(text, 'https://id.example.test/console/tenants/acme/connectors')
  t.match(text, /Waiting for a connector\n6\/10 done +Connect a connector: one connector is/)
  t.match(steps.fields()[5], { step: 'connector', state: 'done' })

  const there = connecting([2])
  there.steps.withConnector()
  await connectorStep(there.task, there.steps, { tenantId: 'acme', port: null, api: there.api })
  t.notMatch(there.said.join('\n'), 'curl')
  t.match(there.steps.fields()[5], { detail: '2 connectors are connected' })

  const never = connecting([0])
  never.steps.withConnector()
  await t.rejects(
    connectorStep(never.task, never.steps, { tenantId: 'acme', port: null, api: never.api }),
    { code: 'no_connector', lines: [/No connector/, /service-connector diag/, /setup/] },
  )
  const older = connecting([null])
  older.steps.withConnector()
  await connectorStep(older.task, older.steps, { tenantId: 'acme', port: null, api: older.api })
  t.match(older.steps.fields()[5], { state: 'done' }, 'one that does not tell is not waited for')
})

t.test('a draft is published in the console first, and waited for', async (t) => {
  const facts = (status: string) => ({ tenant_id: 'acme', status }) as Facts
  function start(isInteractive: boolean, ...statuses: string[]) {
    const { task, said } = connecting([])
    let asked = 0
    const api = {
      facts: async () => facts(statuses[Math.min(asked++, statuses.length - 1)] ?? 'draft'),
    }
    return { task: { ...task, terminal: { ...task.terminal, isInteractive } }, said, api }
  }
  const { task, said, api } = start(true, 'draft', 'published')
  t.equal((await untilPublished(task, facts('draft'), api)).status, 'published')
  t.match(said.join('\n'), 'https://id.example.test/console/tenants/acme')
  const there = start(true)
  await untilPublished(there.task, facts('published'), there.api)
  t.strictSame(there.said, [], 'nobody is told of what is done')
  for (const isInteractive of [true, false]) {
    const never = start(isInteractive, 'draft')
    await t.rejects(untilPublished(never.task, facts('draft'), never.api), {
      code: 'not_published',
      lines: [/still a draft/, /tenants\/acme, then run: service-analyzer setup/],
    })
  }
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
