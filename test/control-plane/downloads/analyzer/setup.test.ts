/** From nothing to live in one command, at a pseudo terminal, with a real application and real npm. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../shared/clock.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { atTerminal, plainEnvironment, startAnalyzer } from '../../../support/analyzer-program.ts'
import { ACTOR } from '../../../support/control-plane.ts'
import { CONSOLE_REALM } from '../../../../control-plane/store/reserved.ts'
import { giveRole } from '../../../support/console.ts'
import { startNewcomer } from '../../../support/newcomer.ts'

// npm, shells and sign-ins, also on a machine that has much else to do
t.setTimeout(240_000)

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

async function start(t: Test) {
  const newcomer = await startNewcomer({ after: (work) => t.after(work) }, SHOP)
  t.equal((await newcomer.run('npm', ['install'])).code, 0)
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
  const line = (words: string) => `'${process.execPath}' '${own.program}' ${words}`
  return {
    ...own,
    newcomer,
    environment,
    at: (words: string) =>
      atTerminal(t, line(words), { columns: 100, environment, folder: newcomer.folder }),
    /** As a person does who has compared the codes. */
    allow: (userCode: string, handsSecret = true) =>
      consoleAccess.deviceCodes.allow(userCode, { tenantId: own.tenantId, handsSecret }, userId, {
        name: `console:${email}`,
        id: userId,
        requestId: 'req',
      }),
  }
}

const codeOn = (screen: string) => /Check that it shows this code: (\S+)/.exec(screen)?.[1] ?? ''

void t.test('from nothing to live, and back', async (t) => {
  const { at, allow, newcomer, home } = await start(t)
  const session = at('setup')
  await session.shown(/Check that it shows this code: \S+\r/)
  await allow(codeOn(session.screen()))
  await session.shown('and run npm install? [y/N]')
  session.type('y\r')
  await session.shown(/nothing listens on port \d+ yet: run npm start/)
  await newcomer.start()
  await session.shown('requires a sign-in. [y/N]')
  session.type('y\r')
  const { code, screen } = await session.ended
  t.match(screen.replaceAll(/\s+/g, ' '), 'It is live')
  t.equal(code, 0)
  t.match(readFileSync(join(newcomer.folder, '.env'), 'utf8'), /^SERVICE_CLIENT_SECRET=\S+\n$/)
  t.ok(existsSync(join(home, '.config/service-analyzer/profile.json')))
  t.ok(LIMITS.setupLookMs > 0)
})
