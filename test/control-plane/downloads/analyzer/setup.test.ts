// long: npm installs a real application for each way through it
/** From nothing to live in one command, at a pseudo terminal, with a real application and real npm. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../shared/clock.ts'
import {
  atTerminal,
  plainEnvironment,
  startAnalyzer,
  type Session,
} from '../../../support/analyzer-program.ts'
import { ACTOR } from '../../../support/control-plane.ts'
import { CONSOLE_REALM } from '../../../../control-plane/store/reserved.ts'
import { giveRole } from '../../../support/console.ts'
import { treeOf as wholeTreeOf } from '../../../support/applied.ts'
import { startNewcomer, until } from '../../../support/newcomer.ts'

const analyzer = startAnalyzer(t, { clock: systemClock })

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
  'server.js': `import { existsSync } from 'node:fs'
import express from 'express'

if (existsSync('.env')) process.loadEnvFile('.env')
const app = express()
const port = process.env.PORT ?? 3000

app.get('/', (request, response) => response.send(request.get('x-service-user') ?? 'a stranger'))
app.get('/health', (request, response) => response.send('ok'))

app.listen(port, () => console.log(\`listening on \${port}\`))
`,
  '.gitignore': 'node_modules/\n.env\n',
}

async function start(t: Test, { isInstalled = true } = {}) {
  const newcomer = await startNewcomer({ after: (work) => t.after(work) }, SHOP)
  if (isInstalled) t.equal((await newcomer.run('npm', ['install'])).code, 0)
  await newcomer.git('init', '--quiet')
  await newcomer.git('add', '--all')
  await newcomer.git('commit', '--quiet', '--message', 'a shop')
  const settings = { mode: 'sdk', hostnames: [], origin: newcomer.origin, sealed: [], excluded: [] }
  const service = await analyzer
  const own = await service.tenant(t, settings)
  const { consoleAccess, users } = service.services
  await consoleAccess.ensureRealm()
  const email = `kim@${own.tenantId}.test`
  const { userId } = await users.create(
    CONSOLE_REALM,
    { username: email, email, name: 'Kim', password: '' },
    ACTOR,
  )
  await giveRole(service.services, userId, own.tenantId)
  const environment = { ...plainEnvironment(own.home), ...newcomer.environment, HOME: own.home, PORT: String(newcomer.port) } // prettier-ignore
  const actor = { name: `console:${email}`, id: userId, requestId: 'req' }
  const line = (words: string) => `'${process.execPath}' '${own.program}' ${words}`
  return {
    ...own,
    newcomer,
    environment,
    at: (words: string) =>
      atTerminal(t, line(words), { columns: 100, environment, folder: newcomer.folder }),
    /** As a person does who has compared the codes. */
    deny: (userCode: string) => consoleAccess.deviceCodes.deny(userCode, actor),
    allow: (userCode: string, handsSecret = true) =>
      consoleAccess.deviceCodes.allow(
        userCode,
        { tenantId: own.tenantId, handsSecret },
        { userId, sid: 'sid' },
        actor,
      ),
  }
}

const treeOf = (folder: string) =>
  wholeTreeOf(folder, ['node_modules', '.git', 'package-lock.json'])

const CODE = /Check that it shows this code: \S+\r/
const codeOn = (screen: string) => /Check that it shows this code: (\S+)/.exec(screen)?.[1] ?? ''

/** As a reader sees it, on one line: without colors and what was drawn over. */
const seen = (screen: string) =>
  screen.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '').replaceAll(/\s+/g, ' ')

void t.test(
  'three answers lead from nothing to live, Ctrl-C loses nothing, undo reverts it',
  async (t) => {
    const { at, allow, newcomer, home } = await start(t)
    const before = treeOf(newcomer.folder)
    const profile = join(home, '.config/service-analyzer/profile.json')
    const interrupted = async (session: Session) => {
      session.type('\u0003')
      t.equal((await session.ended).code, 130)
    }

    const atCode = at('setup')
    await atCode.shown(CODE)
    await interrupted(atCode)
    t.notOk(existsSync(profile))

    const atChanges = at('setup')
    await atChanges.shown(CODE)
    await allow(codeOn(atChanges.screen()))
    await atChanges.shown('and run npm install? [y/N]')
    t.match(readFileSync(profile, 'utf8'), /"key": "sak_.*"client_secret": "scs_/s)
    await interrupted(atChanges)
    t.strictSame(treeOf(newcomer.folder), before, 'nothing was written')

    const dotenv = join(newcomer.folder, '.env')
    writeFileSync(dotenv, '', { mode: 0o644 })
    const atSecret = at('setup')
    await atSecret.shown('and run npm install? [y/N]')
    t.notMatch(atSecret.screen(), CODE, 'who has signed in is not asked again')
    atSecret.type('y\r')
    t.equal((await atSecret.ended).code, 1)
    t.match(seen(atSecret.screen()), /can read \.env, so .* setup again: chmod 600 \.env/)
    t.equal(readFileSync(dotenv, 'utf8'), '')
    rmSync(dotenv)

    const atStart = at('setup')
    await atStart.shown(/nothing listens on port \d+ yet: run npm start/)
    await interrupted(atStart)
    t.match(seen(atStart.screen()), 'To continue where it stopped: service-analyzer setup')
    const env = readFileSync(dotenv, 'utf8')
    t.match(env, /^SERVICE_CLIENT_SECRET=scs_\S+\n$/)
    t.notMatch(
      readFileSync(profile, 'utf8'),
      'client_secret',
      'where it is needed, and nowhere else',
    )

    const atLive = at('setup')
    await atLive.shown(/nothing listens on port \d+ yet: run npm start/)
    t.match(seen(atLive.screen()), /3\/9 done Add the middleware: already in place/)
    t.match(seen(atLive.screen()), /5\/9 done Dry run/, 'what was written is looked at again')
    await newcomer.start()
    await atLive.shown('requires a sign-in. [y/N]')
    await interrupted(atLive)
    t.match((await newcomer.ask('/')).text, 'a stranger', 'it is not live')

    const last = at('setup')
    await last.shown('requires a sign-in. [y/N]')
    last.type('y\r')
    const { code, screen } = await last.ended
    t.match(seen(screen), /8\/9 done Go live.* 9\/9 done Test one sign-in.* It is live/)
    t.equal(code, 0)
    for (const session of [atCode, atChanges, atSecret, atStart, atLive, last])
      t.notMatch(session.screen(), /sak_|scs_/, 'no secret is on the screen')

    const again = await at('setup').ended
    t.match(seen(again.screen), /Go live: protection is already on/)
    t.equal(again.code, 0, 'all of it is done')

    const undo = at('undo')
    await undo.shown('Run npm install now to remove the package? [y/N]')
    undo.type('y\r')
    await undo.shown('is still on. Turn it off as well? [y/N]')
    undo.type('y\r')
    const undone = await undo.ended
    t.equal(undone.code, 0)
    t.match(
      seen(undone.screen),
      /restored package\.json.* cleaned \.env .*Protection is off.* logout removes it/,
    )
    t.strictSame(treeOf(newcomer.folder), before)
    t.notOk(existsSync(join(newcomer.folder, 'node_modules/service-node')))
  },
)

void t.test('a no at the console, or at a question, ends it with nothing done', async (t) => {
  const { at, allow, deny, newcomer } = await start(t, { isInstalled: false })
  const before = treeOf(newcomer.folder)
  const denied = at('setup')
  await denied.shown(CODE)
  await deny(codeOn(denied.screen()))
  t.match(await denied.ended, { code: 1, screen: /denied in the console/ })
  const declined = at('setup')
  await declined.shown(CODE)
  await allow(codeOn(declined.screen()), false)
  await declined.shown('and run npm install? [y/N]')
  declined.type('n\r')
  const { code, screen } = await declined.ended
  t.equal(code, 1)
  t.match(
    seen(screen),
    /3\/9 failed Add the middleware.* 4\/9 open Install .*service-analyzer setup/,
  )
  t.strictSame(treeOf(newcomer.folder), before)
})

void t.test('login signs in in the same way, in the browser that is there', async (t) => {
  const { at, allow, home, environment, tenantId } = await start(t, { isInstalled: false })
  const opened = join(home, 'opened')
  mkdirSync(join(home, 'bin'))
  const program = `#!/bin/sh\n{ echo "$@"; env; } > '${opened}'\n`
  writeFileSync(join(home, 'bin/xdg-open'), program, { mode: 0o755 })
  Object.assign(environment, { DISPLAY: ':0', PATH: `${home}/bin:/usr/local/bin:/usr/bin:/bin` })
  const session = at('login')
  await session.shown(CODE)
  await allow(codeOn(session.screen()), false)
  const { code, screen } = await session.ended
  t.equal(code, 0)
  t.match(seen(screen), `The key of tenant ${tenantId}`)
  t.match(readFileSync(opened, 'utf8'), /^http:\/\/127\.0\.0\.1:\d+\/console\/device\?code=\S+\n/)
  rmSync(opened)
  const quiet = at('login --no-browser')
  await quiet.shown(CODE)
  t.notOk(existsSync(opened))
  quiet.type('\u0003')
  await quiet.ended
})

void t.test('without a terminal a key is needed, and consent beforehand', async (t) => {
  const { document, newcomer, key, operator, tenantId } = await start(t)
  const folder = newcomer.folder
  const nobody = await document(['setup', '--yes'], { folder, environment: {} })
  t.equal(nobody.code, 2)
  t.match(nobody.read, {
    problem: { code: 'key_missing' },
    steps: [{ step: 'sign_in', state: 'failed' }],
  })
  const environment = {
    ...newcomer.environment,
    SERVICE_ANALYZER_KEY: key,
    PORT: String(newcomer.port),
  }
  const asked = await document(['setup'], { folder, environment })
  t.equal(asked.code, 2)
  t.match(asked.read, { problem: { code: 'confirmation_needed' }, written: [] })

  const secret = await operator('POST', `/tenants/${tenantId}/client-secret/rotate`, {})
  const running = document(['setup', '--yes'], { folder, environment })
  await until('installed', async () =>
    existsSync(join(folder, 'node_modules/service-node/index.js')),
  )
  await newcomer.start({ SERVICE_CLIENT_SECRET: String(secret.body['client_secret']) })
  const { code, read, err } = await running
  t.equal(code, 0, err)
  t.match(read, {
    written: ['package.json', 'server.js'],
    tenant: { protection: 'on' },
    problem: null,
  })
  const steps = read['steps'] as { state: string }[]
  t.ok(steps.every(({ state }) => state === 'done'))

  const nothing = { removed: [], restored: [] }
  const stillOn = { protection: 'on', next_step: { command: 'service-analyzer go-back' } }
  const elsewhere = { folder: t.testdir({}), environment }
  for (const flag of ['--yes', '--go-back'])
    t.match((await document(['undo', flag], elsewhere)).read, { ...nothing, ...stillOn }, flag)
  appendFileSync(join(folder, 'server.js'), '// mine\n')
  const refused = await document(['undo'], { folder, environment })
  t.match(refused.read, { problem: { code: 'edits_refused' } })
  const left = await document(['undo', '--yes'], { folder, environment })
  t.match(left.read, { restored: ['package.json', 'server.js'], ...stillOn }, 'a yes to the files')
  execFileSync('git', ['checkout', '-q', 'package-lock.json'], { cwd: folder })
  t.equal((await document(['apply', '--yes'], { folder, environment })).code, 0)
  t.match(await document(['undo', '--go-back'], { folder, environment }), {
    read: { restored: ['package.json', 'server.js'], protection: 'pass-through' },
  })
})
