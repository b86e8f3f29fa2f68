/** Files as people really have them: mixed line ends, no line end, links inside of the project. */
import { lstatSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startAnalyzer } from '../../../support/analyzer-program.ts'
import { commitAll, EXPRESS, projectOf, treeOf } from './some-projects.ts'

const analyzer = startAnalyzer(t)
const SERVER = EXPRESS['server.js'] ?? ''

for (const [what, text] of [
  ['mixed line ends', SERVER.replace('\n', '\r\n').replace(/\n$/, '')],
  ['Windows line ends but one', SERVER.replaceAll('\n', '\r\n').replace('\r\n', '\n')],
  ['a byte order mark', `\uFEFF${SERVER}`],
] as const)
  void t.test(`${what} survive apply, and undo`, async (t) => {
    const { run } = await (await analyzer).tenant(t)
    const folder = projectOf(t, { ...EXPRESS, 'server.js': text })
    const before = treeOf(folder)
    const applied = await run(['apply', '--yes'], { folder })
    t.equal(applied.code, 0, applied.err)
    const after = readFileSync(join(folder, 'server.js'), 'utf8')
    let at = 0
    for (const line of text.split(/(?<=\n)/)) {
      at = after.indexOf(line, at)
      t.not(at, -1, JSON.stringify(line))
    }
    t.match(after, 'app.use(service.express())')
    t.match(await run(['verify'], { folder }), { out: /middleware_mounted/ })
    t.equal((await run(['undo'], { folder })).code, 0)
    t.strictSame(treeOf(folder), before)
  })

void t.test(
  'a link inside of the project stays a link, and what it points at is edited',
  async (t) => {
    const { run } = await (await analyzer).tenant(t)
    const folder = projectOf(t, EXPRESS)
    mkdirSync(join(folder, 'lib'))
    renameSync(join(folder, 'server.js'), join(folder, 'lib/real.js'))
    symlinkSync('lib/real.js', join(folder, 'server.js'))
    commitAll(folder)
    const applied = await run(['apply', '--yes'], { folder })
    t.equal(applied.code, 0, applied.err)
    t.ok(lstatSync(join(folder, 'server.js')).isSymbolicLink())
    t.match(readFileSync(join(folder, 'lib/real.js'), 'utf8'), 'app.use(service.express())')
    t.equal((await run(['undo'], { folder })).code, 0)
    t.ok(lstatSync(join(folder, 'server.js')).isSymbolicLink())
    t.equal(readFileSync(join(folder, 'lib/real.js'), 'utf8'), SERVER)
  },
)
