/** What leaves the machine for a model: little, masked, shown first and agreed to. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startAiProvider } from '../../../support/ai-provider.ts'
import { atTerminal, plainEnvironment, startAnalyzer } from '../../../support/analyzer-program.ts'
import { EXPRESS, projectOf } from './some-projects.ts'

const SHOP = {
  ...EXPRESS,
  'auth/login.js': "module.exports = { secret: 'keyboard cat of the shop' }\n",
  'auth/login.test.js': "require('./login')\n",
  'lib/prices.js': 'module.exports = 1\n',
  'auth/secrets.js': "exports.salt = 'only in secrets'\n",
  '.env': 'SESSION_SECRET=only-in-env\n',
  'config/service.pem': '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n',
}
const EDIT = {
  path: 'auth/login.js',
  action: 'modify',
  find: 'module.exports = {',
  replace: '// signed in by the service\nmodule.exports = {',
  content: '',
  why: 'Sign-in is done before.',
}
const GUIDE = {
  framework: 'express',
  summary: 'Mounts the middleware.',
  edits: [EDIT],
  warnings: ['The old form goes on.'],
  notes: [],
}

const provider = startAiProvider(t)
const withModel = provider.then((known) => startAnalyzer(t, { ai: known.settings() }))
const without = startAnalyzer(t)

async function start(t: Test, analyzer = withModel) {
  const own = await (await analyzer).tenant(t)
  const { asked, says } = await provider
  asked.length = 0
  const folder = projectOf(t, SHOP)
  return { ...own, asked, says, folder, here: { folder } }
}

void t.test(
  'only files about signing in are sent, masked, and all of them are listed',
  async (t) => {
    const { document, says, asked, here, folder } = await start(t)
    says(GUIDE)
    const { read, code, err } = await document(['analyze', '--use-ai', '--yes'], here)
    t.equal(code, 0, err)
    const guide = read['guide'] as { sent: { files: { path: string; masked: number }[] } }
    const sent = guide.sent.files.map(({ path }) => path).sort()
    t.strictSame(sent, ['auth/login.js', 'server.js'])
    t.equal(guide.sent.files.find(({ path }) => path === 'auth/login.js')?.masked, 1)
    const raw = asked.map(({ raw }) => raw).join()
    for (const path of sent) t.match(raw, path)
    t.notMatch(raw, /keyboard cat|only in secrets|only-in-env|PRIVATE KEY|prices|login\.test/)
    t.match(guide, { summary: GUIDE.summary, warnings: GUIDE.warnings, framework: 'express' })
    t.equal(
      readFileSync(join(folder, 'server.js'), 'utf8'),
      EXPRESS['server.js'],
      'nothing written',
    )
  },
)

void t.test('nothing is sent before somebody agrees', async (t) => {
  const { run, asked, here, folder, home, program, key } = await start(t)
  const nobody = await run(['analyze', '--use-ai'], here)
  t.match(nobody, { code: 2, err: /no terminal to ask for confirmation, so nothing was sent/ })
  t.match(nobody.out, /auth\/login\.js {2}1 masked.*2 files.*1 secret is\s+masked/s)
  const environment = { ...plainEnvironment(home), SERVICE_ANALYZER_KEY: key }
  const line = `'${process.execPath}' '${program}' analyze --use-ai`
  const session = atTerminal(t, line, { columns: 80, environment, folder })
  await session.shown(/Send these files to .*\[y\/N\]/)
  session.type('\r')
  t.match(await session.ended, { code: 1, screen: /Nothing was sent/ })
  t.strictSame(asked, [])
})

void t.test(
  'apply writes the guide, with the package and the keys that it need not name',
  async (t) => {
    const { run, document, says, here, folder } = await start(t)
    says(GUIDE)
    await run(['analyze', '--use-ai', '--yes'], here)
    const { read, err, code } = await document(['apply', '--yes'], here)
    t.equal(code, 0, err)
    t.match(read, { plan: { source: 'guide', guide_id: /./ } })
    const written = [...(read['written'] as string[])].sort()
    t.strictSame(written, ['auth/login.js', 'package.json', 'service_public.pem'])
    t.match(readFileSync(join(folder, 'auth/login.js'), 'utf8'), EDIT.replace)
    t.match(await run(['apply', '--yes'], here), { code: 0, out: /Already integrated/ })
    await run(['undo'], here)
    const rules = await document(['apply', '--rules', '--dry-run'], here)
    t.match(rules.read, { plan: { source: 'rules', guide_id: null } })
  },
)

void t.test('a guide that does not fit is refused whole, and nobody falls back', async (t) => {
  const { run, document, says, here, folder } = await start(t)
  const [find, replace] = ['app.listen(3000)', '// behind the service\napp.listen(3000)']
  says({ ...GUIDE, edits: [EDIT, { ...EDIT, path: 'server.js', find, replace }] })
  t.match(await run(['analyze', '--use-ai', '--yes'], here), { code: 0 })
  const other = projectOf(t, { ...SHOP, 'server.js': EXPRESS['server.js'].replace('3000', '4000') })
  const { read, code, err } = await document(['apply', '--yes'], { folder: other })
  t.equal(code, 1)
  t.match(read, { problem: { code: 'guide_refused' } })
  t.match(err, /rejected as a whole.*server\.js.*apply --rules/s)
  t.equal(readFileSync(join(other, 'auth/login.js'), 'utf8'), SHOP['auth/login.js'])
  t.ok(folder)
})

void t.test('without a model the rules go on', async (t) => {
  const { document, here } = await start(t, without)
  const { read, code } = await document(['analyze', '--use-ai', '--yes'], here)
  t.equal(code, 0)
  t.match(read, { guide: null, warnings: [/has no AI model/], applications: [{ plan: Object }] })
})
