// long: starts the bundled program in each of two hundred hostile folders
/**
 * What strangers' machines are like: the real program, bundled as it is downloaded, in folders that
 * are too large, broken, hostile or not a project at all. It never hangs, never crashes, never
 * writes where it was not asked to, and says what to do. What could hang or crash a process has one
 * of its own.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import type { Ended } from '../../../support/analyzer-here.ts'
import { atTerminal, plainEnvironment, startAnalyzer } from '../../../support/analyzer-program.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { everything, isForPeople, SHOP, shop } from '../../../support/strange-shop.ts'

const node = process.execPath

const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
const skipped = process.getuid?.() !== 0 && 'only root can become somebody else'

void t.test('the program and its service', async (t) => {
  const analyzer = await startAnalyzer(t)
  const start = (t: Test) => analyzer.tenant(t)
  /** As somebody who may read the program, and not all else. */
  async function asNobody(t: Test, ...args: readonly string[]): Promise<Ended> {
    const program = join(temporaryFolder(t), 'service-analyzer.mjs')
    cpSync(analyzer.program, program)
    for (const path of [dirname(program), program]) chmodSync(path, 0o755)
    const env = Object.entries(plainEnvironment('/nonexistent')).map((pair) => pair.join('='))
    const call = [...NOBODY, 'env', '-i', ...env, process.execPath, program, ...args]
    return new Promise((resolve) => {
      const [file = '', ...rest] = call
      execFile(file, rest, { cwd: '/' }, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), out, err }),
      ).stdin?.end()
    })
  }

  await t.test('without a network the rules still show everything', async (t) => {
    const { run, key } = await start(t)
    const folder = shop(t)
    const before = everything(folder)
    const away = { SERVICE_BASE_URL: 'http://127.0.0.1:9', SERVICE_ANALYZER_KEY: key }
    const analyzed = await run(['analyze'], { folder, environment: {} })
    t.match(analyzed, { code: 0, out: /express/ })
    for (const command of ['verify', 'status', 'go-live', 'complete']) {
      const ended = await run([command], { folder, environment: away })
      t.match(ended, { code: 3, err: /127\.0\.0\.1:9 cannot be reached/ }, command)
      isForPeople(t, ended)
    }
    const applied = await run(['apply', '--dry-run'], { folder, environment: away })
    t.match(applied, { code: 0, err: /cannot be reached.*built-in rules/s })
    t.match(applied.out, /\+.*verifyClaims/)
    t.equal(everything(folder), before)
  })

  await t.test('a wrong key changes nothing, and says where the right one is', async (t) => {
    const { run } = await start(t)
    const folder = shop(t)
    const before = everything(folder)
    const environment = { SERVICE_ANALYZER_KEY: `sak_${'x'.repeat(43)}` }
    for (const args of [['verify'], ['apply', '--yes'], ['status'], ['go-back']]) {
      const ended = await run(args, { folder, environment })
      t.match(ended, { code: 2, err: /does not accept the analyzer key/ }, args.join(' '))
      t.notMatch(ended.err, /xxxx/)
    }
    t.equal(everything(folder), before)
  })

  await t.test('a file and a folder of five gigabytes are passed over', async (t) => {
    const { run } = await start(t)
    const folder = shop(t, { 'data/a.js': '', 'dump.sql': '', 'huge.js': '' })
    const sparse = 5 * 1024 ** 3
    for (const path of ['data/a.js', 'dump.sql', 'huge.js'])
      truncateSync(join(folder, path), sparse)
    const ended = await run(['analyze'], { folder, node })
    t.match(ended, { code: 0, out: /express/ })
    isForPeople(t, ended)
    t.match(await run(['apply', '--yes'], { folder, node }), { code: 0 })
    t.match(readFileSync(join(folder, 'server.js'), 'utf8'), 'verifyClaims')
  })

  await t.test('a package.json that is enormous, broken or of another kind', async (t) => {
    const { run } = await start(t)
    const kinds: readonly [string, string | Buffer][] = [
      ['not JSON', '{ "name": '],
      ['a list', '[]'],
      ['null', 'null'],
      ['UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
      ['bytes', Buffer.from([0, 255, 254, 1])],
      ['deep', '['.repeat(100_000)],
      ['wrong kinds', '{"name":1,"dependencies":["express"],"scripts":"x","workspaces":{"packages":7}}'],
      ['a prototype', '{"__proto__":{"dependencies":{"express":"5"}},"dependencies":{"__proto__":"1"}}'],
      ['a name for a terminal', '{"name":"\\u001b]0;x\\u0007","dependencies":{"express":"\\u001b[31m5"}}'],
    ] // prettier-ignore
    for (const [name, content] of kinds) {
      const folder = shop(t)
      writeFileSync(join(folder, 'package.json'), content)
      for (const args of [['analyze'], ['apply', '--yes']]) {
        const own = name === 'deep' ? { node } : {}
        const ended = await run(args, { folder, environment: {}, ...own })
        t.ok([0, 1].includes(ended.code), `${name}: ${ended.code} ${ended.err}`)
        isForPeople(t, ended)
        t.notMatch(ended.out + ended.err, /\u001b[\][]/, name)
      }
      if (name !== 'a name for a terminal')
        t.same(readFileSync(join(folder, 'package.json')), Buffer.from(content), 'and it stays')
    }
  })

  await t.test('a pipe where a file should be is not waited for', async (t) => {
    const { run } = await start(t)
    for (const name of ['package.json', 'server.js', '.env', 'pyproject.toml']) {
      const folder = shop(t)
      spawnSync('rm', ['-f', join(folder, name)])
      execFileSync('mkfifo', [join(folder, name)])
      const ended = await run(['analyze'], { folder, environment: {}, node })
      t.ok([0, 1].includes(ended.code), `${name}: ${ended.code} ${ended.err}`)
      isForPeople(t, ended)
    }
  })

  await t.test('links that lead in circles, nowhere and out', async (t) => {
    const { run } = await start(t)
    const folder = shop(t)
    const outside = shop(t)
    mkdirSync(join(folder, 'src/deep'), { recursive: true })
    symlinkSync('b', join(folder, 'a'))
    symlinkSync('a', join(folder, 'b'))
    symlinkSync('..', join(folder, 'src/up'))
    symlinkSync('../..', join(folder, 'src/deep/top'))
    symlinkSync('/nowhere', join(folder, 'gone.js'))
    symlinkSync(join(outside, 'server.js'), join(folder, 'out.js'))
    symlinkSync('/dev/zero', join(folder, 'zero.js'))
    const ended = await run(['analyze'], { folder, node })
    t.match(ended, { code: 0, out: /express/ })
    isForPeople(t, ended)
    t.match(await run(['apply', '--yes'], { folder, node }), { code: 0 })
    t.equal(readFileSync(join(outside, 'server.js'), 'utf8'), SHOP['server.js'], 'theirs stays')

    const linked = shop(t)
    spawnSync('rm', [join(linked, 'server.js')])
    symlinkSync(join(outside, 'server.js'), join(linked, 'server.js'))
    const refused = await run(['apply', '--yes'], { folder: linked })
    t.equal(readFileSync(join(outside, 'server.js'), 'utf8'), SHOP['server.js'])
    t.ok([0, 1].includes(refused.code), refused.err)
    isForPeople(t, refused)
  })

  await t.test('an empty folder, and one that is no project', async (t) => {
    const { run, baseUrl } = await start(t)
    const empty = temporaryFolder(t)
    const letters = temporaryFolder(t)
    for (const name of ['letter.txt', 'photo.jpg', 'notes.md', 'Makefile'])
      writeFileSync(join(letters, name), 'dear reader')
    for (const folder of [empty, letters])
      for (const command of ['analyze', 'apply']) {
        const ended = await run([command], { folder })
        t.match(ended, { code: 1, err: /No supported web application found/ })
        t.ok(ended.err.replaceAll(/\s+/g, ' ').includes(`${baseUrl}/api/v1/contract`))
        isForPeople(t, ended)
      }
    t.match(await run(['undo'], { folder: empty }), { code: 0, out: /Nothing is applied/ })
    t.strictSame(readdirSync(empty), [])
    for (const folder of ['/nowhere/at/all', '/etc/passwd', '/proc/self/mem'])
      t.match(await run(['analyze', folder], { node }), { code: 2, err: /folder/ }, folder)
  })

  await t.test('a home folder and the whole disk are asked about first', async (t) => {
    const { run, home, program } = await start(t)
    for (const folder of [home, dirname(home), '/']) {
      const refused = await run(['analyze', folder])
      t.match(refused, { code: 2, err: /more\s+than\s+one\s+project.*Choose the folder/s }, folder)
      t.match(await run(['apply', '--json', folder]), { code: 2, out: /"folder_too_wide"/ })
    }
    t.match(await run(['analyze', '--yes', home]), { code: 1, err: /No supported web application/ })
    const link = join(temporaryFolder(t), 'link')
    symlinkSync(home, link)
    t.match(await run(['analyze', link]), { code: 2 }, 'by whichever name')

    const environment = plainEnvironment(home)
    const line = `${process.execPath} ${program} analyze ${home}`
    const asked = atTerminal(t, line, { columns: 80, environment, folder: '/' })
    await asked.shown(/Continue\?/)
    asked.type('no\r')
    t.match(await asked.ended, { code: 2, screen: /Choose the folder/ })
    for (const [path, text] of Object.entries(SHOP)) writeFileSync(join(home, path), text)
    t.match(await run(['analyze', home]), { code: 0, out: /express/ }, 'a pipeline works at home')
  })

  await t.test(
    'what may not be read is told, and the rest is looked at',
    { skip: skipped },
    async (t) => {
      const folder = shop(t, { 'secret.js': 'x', 'private/a.js': 'x', 'config/keys.json': '{}' })
      chmodSync(folder, 0o755)
      for (const path of ['secret.js', 'private', 'config/keys.json'])
        chmodSync(join(folder, path), 0)
      t.teardown(() => chmodSync(join(folder, 'private'), 0o755))
      const ended = await asNobody(t, 'analyze', folder)
      t.match(ended, { code: 0, out: /express/ }, ended.err)
      t.match(ended.out + ended.err, /private cannot be read: permission denied/)
      isForPeople(t, ended)

      chmodSync(join(folder, 'server.js'), 0)
      const blind = await asNobody(t, 'analyze', folder)
      t.ok([0, 1].includes(blind.code), blind.err)
      isForPeople(t, blind)
      chmodSync(folder, 0o700)
      const shut = await asNobody(t, 'analyze', folder)
      t.match(shut, { code: 2, err: /do not have permission to read/ })
      isForPeople(t, shut)
    },
  )

  await t.test(
    'where nothing may be written nothing is, and it says so',
    { skip: skipped },
    async (t) => {
      const folder = shop(t)
      chmodSync(folder, 0o555)
      for (const path of Object.keys(SHOP)) chmodSync(join(folder, path), 0o644)
      const before = everything(folder)
      const ended = await asNobody(t, 'apply', '--yes', folder)
      t.equal(ended.code, 1, ended.err)
      t.match(ended.err, /permission|may not/)
      t.equal(everything(folder), before)
      isForPeople(t, ended)
      t.match(await asNobody(t, 'apply', '--dry-run', folder), {
        out: /\+.*verifyClaims/,
      })
    },
  )

  await t.test('a file system that is read-only', async (t) => {
    const { run } = await start(t)
    const folder = shop(t)
    const isMounted =
      spawnSync('mount', ['--bind', folder, folder]).status === 0 &&
      spawnSync('mount', ['-o', 'remount,ro,bind', folder]).status === 0
    t.teardown(() => spawnSync('umount', [folder]))
    if (!isMounted) return t.comment('nothing can be mounted here')
    const before = everything(folder)
    const ended = await run(['apply', '--yes'], { folder, environment: {}, node })
    t.match(ended, { code: 1, err: /read-only/ })
    t.equal(everything(folder), before)
    isForPeople(t, ended)
  })

  await t.test('a hundred thousand files, with progress', async (t) => {
    const { run } = await start(t)
    // in memory where there is some: the disk is not what this is about
    const inMemory = existsSync('/dev/shm') ? mkdtempSync('/dev/shm/shop-') : temporaryFolder(t)
    t.teardown(() => rmSync(inMemory, { recursive: true, force: true }))
    const folder = join(inMemory, 'shop')
    cpSync(shop(t), folder, { recursive: true })
    for (let index = 0; index < 1000; index++) {
      const below = join(folder, 'records', String(index))
      mkdirSync(below, { recursive: true })
      for (let file = 0; file < 100; file++) writeFileSync(join(below, `${file}.txt`), '')
    }
    const ended = await run(['analyze'], { folder, environment: {}, node })
    t.match(ended, { code: 0, out: /express/ })
    t.match(ended.err, /Analyzing the project/)
    isForPeople(t, ended)
  })

  await t.test('forty columns hold the plan and the changes', async (t) => {
    const { home, program, key } = await start(t)
    const folder = shop(t)
    const environment = { ...plainEnvironment(home), SERVICE_ANALYZER_KEY: key, NO_COLOR: '1' }
    const line = `${process.execPath} ${program} analyze ${folder}`
    const { code, screen } = await atTerminal(t, line, { columns: 40, environment, folder }).ended
    t.equal(code, 0)
    t.notMatch(screen, /\u001b\[\d*(?:;\d+)*m/, 'and no colours for whoever wants none')
    const shown = screen.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '').split(/\r?\n|\r/)
    for (const each of shown)
      // a command is to be copied, and stays whole
      t.ok(
        each.length <= 40 ||
          each.startsWith('  service-analyzer ') ||
          !/\S\s+\S.*\s/.test(each.trim()),
        JSON.stringify(each),
      )
  })

  await t.test('who closes its output early gets no complaint', async (t) => {
    const { home, program } = await start(t)
    const folder = shop(t)
    const env = plainEnvironment(home)
    const line = `"${process.execPath}" "${program}" analyze | true; "${process.execPath}" "${program}" analyze >&-`
    const { stderr } = spawnSync('bash', ['-c', line], { cwd: folder, env, encoding: 'utf8' })
    t.notMatch(stderr, /EPIPE|EBADF|at .*\(/)
  })
})
