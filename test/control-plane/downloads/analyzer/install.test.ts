/** The installer, run by real shells against a real server, each in a home of its own. */
import { execFile, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'
import { VERSION } from '../../../../shared/version.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { startPublicServer } from '../../../support/public-server.ts'

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

const SYSTEM_PATH = ['/usr/local/bin', '/usr/bin', '/bin']

function find(tool: string): string | undefined {
  const places = [...(process.env['PATH'] ?? '').split(delimiter), ...SYSTEM_PATH]
  return places.map((place) => join(place, tool)).find((file) => existsSync(file))
}

/** What the script needs besides what each test is about. */
const BASICS = ['printf', 'mktemp', 'readlink', 'mkdir', 'cp', 'chmod', 'mv', 'ln', 'rm']

/** A PATH with just these tools; a value is the text of a script that stands in for one. */
function toolbox(t: Test, tools: readonly string[], made: Record<string, string> = {}): string {
  const folder = temporaryFolder(t)
  // a stand-in is never written through a link to the machine's own tool
  for (const [tool, text] of Object.entries(made))
    writeFileSync(join(folder, tool), text, { mode: 0o755, flag: 'wx' })
  for (const tool of [...BASICS, ...tools].filter((tool) => !(tool in made))) {
    const file = tool === 'node' ? process.execPath : find(tool)
    if (file === undefined) throw new Error(`${tool} is not on this machine`)
    symlinkSync(file, join(folder, tool))
  }
  return folder
}

/** One service for all of them. */
const service = start()

async function start() {
  const { baseUrl } = await startPublicServer(t)
  const answer = await fetch(`${baseUrl}/api/v1/cli/install`)
  return { baseUrl, answer, script: await answer.text() }
}

interface Wish {
  readonly shell?: readonly [string, ...string[]]
  readonly path?: string
  readonly home?: string
  readonly environment?: Record<string, string>
  readonly folder?: string
}

/** `curl … | sh`, with what is left behind in the temporary folder. */
async function install(t: Test, script: string, wish: Wish = {}) {
  const [file, ...args] = wish.shell ?? ['/bin/sh']
  const home = wish.home ?? temporaryFolder(t)
  const temporary = temporaryFolder(t)
  const environment: Record<string, string> = {
    PATH: wish.path ?? toolbox(t, ['node', 'curl', 'sha256sum']),
    HOME: home,
    TMPDIR: temporary,
    ...wish.environment,
  }
  const ended = await new Promise<Ended>((resolve) => {
    const child = execFile(
      file,
      args,
      { env: environment, cwd: wish.folder ?? home },
      (error, out, err) => resolve({ code: Number(error?.code ?? 0), out, err }),
    )
    child.stdin?.on('error', () => {}) // a script that ends early reads no further
    child.stdin?.end(script)
  })
  t.strictSame(readdirSync(temporary), [], 'nothing is left in the temporary folder')
  const folder = join(home, '.local/bin')
  return { ...ended, home, folder, installed: existsSync(folder) ? readdirSync(folder).sort() : [] }
}

const runInstalled = (folder: string, ...args: string[]) =>
  new Promise<Ended>((resolve) => {
    const env = { PATH: [join(process.execPath, '..'), ...SYSTEM_PATH].join(':') }
    execFile(join(folder, 'service-analyzer'), args, { env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    )
  })

const WHOLE = ['service-analyzer', 'service-analyzer.mjs']

void t.test('every shell installs a program that runs', async (t) => {
  const { answer, script, baseUrl } = await service
  t.equal(answer.status, 200)
  t.match(answer.headers.get('content-type'), /^text\/x-shellscript/)
  t.equal(answer.headers.get('cache-control'), 'no-store')
  t.match(script, `built_in_base_url='${baseUrl}'`)

  const shells: readonly (readonly [string, ...string[]])[] = [
    ['dash'],
    ['bash'],
    ['busybox', 'sh'],
    ['zsh'],
    ['ksh'],
    ['mksh'],
  ]
  for (const [name, ...args] of shells)
    await t.test([name, ...args].join(' '), { skip: !find(name) && `no ${name}` }, async (t) => {
      const done = await install(t, script, { shell: [find(name) ?? '', ...args] })
      t.match(done, { code: 0, err: '', out: new RegExp(`service-analyzer ${VERSION} is in`) })
      t.strictSame(done.installed, WHOLE)
      const ran = await runInstalled(done.folder, '--version')
      t.strictSame(ran, { code: 0, out: `${VERSION}\n`, err: '' })
      const shell: readonly [string, ...string[]] = [find(name) ?? '', ...args, '-s', 'uninstall']
      const removed = await install(t, script, { shell, home: done.home })
      t.match(removed, { code: 0, err: '', out: /is no longer in/, installed: [] })
    })
})

void t.test('any one tool to fetch and any one to check is enough', async (t) => {
  const { script } = await service
  for (const fetcher of ['curl', 'wget'])
    for (const checker of ['sha256sum', 'shasum', 'openssl']) {
      const tools = ['node', fetcher, checker]
      await t.test(tools.join(' '), { skip: !tools.every(find) && 'not here' }, async (t) => {
        // shasum is a script of Perl's
        const path = toolbox(t, checker === 'shasum' ? [...tools, 'perl'] : tools)
        t.match(await install(t, script, { path }), { code: 0, err: '', installed: WHOLE })
      })
    }
})

void t.test('busybox alone is enough', { skip: !find('busybox') && 'no busybox' }, async (t) => {
  const { script } = await service
  const applet = (name: string) => [name, `#!/bin/sh\nexec ${find('busybox')} ${name} "$@"\n`]
  const applets = [...BASICS, 'wget', 'sha256sum'].map(applet)
  const path = toolbox(t, ['node'], Object.fromEntries(applets) as Record<string, string>)
  t.match(await install(t, script, { path }), { code: 0, err: '', installed: WHOLE })
})

void t.test('who stops it finds nothing of it', async (t) => {
  const { script } = await service
  const slow = createServer() // takes the request and says nothing
  const asked = new Promise<void>((resolve) => slow.once('request', () => resolve()))
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    slow.closeAllConnections()
    slow.close()
  })
  const { port } = slow.address() as AddressInfo
  const [home, temporary] = [temporaryFolder(t), temporaryFolder(t)]
  const child = spawn('/bin/sh', {
    detached: true, // a terminal's Ctrl-C reaches all of the group
    env: {
      PATH: toolbox(t, ['node', 'curl', 'sha256sum']),
      HOME: home,
      TMPDIR: temporary,
      SERVICE_BASE_URL: `http://127.0.0.1:${port}`,
    },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = new Promise<unknown>((resolve) => child.once('exit', (...how) => resolve(how)))
  child.stdin?.end(script)
  await asked
  t.equal(readdirSync(temporary).length, 1)
  process.kill(-(child.pid ?? 0), 'SIGINT')
  await ended
  t.strictSame([readdirSync(temporary), readdirSync(home)], [[], []])
})

void t.test('who stops it while it is being put in place finds no half of it', async (t) => {
  const { script } = await service
  for (const [step, signal] of [
    ['chmod', 'INT'],
    ['mv', 'TERM'],
    ['ln', 'HUP'],
  ] as const) {
    const stopped = `#!/bin/sh\nkill -${signal} $PPID\n`
    const path = toolbox(t, ['node', 'curl', 'sha256sum'], { [step]: stopped })
    const ended = await install(t, script, { path })
    t.not(ended.code, 0, step)
    const whole = step === 'ln' ? ['service-analyzer.mjs'] : []
    t.strictSame(readdirSync(ended.folder), whole, 'a whole program, or none')
    t.match(await install(t, script, { home: ended.home }), { code: 0, installed: WHOLE })
  }
})

void t.test('uninstalling takes away what was installed, and nothing of others', async (t) => {
  const { script } = await service
  const shell = ['/bin/sh', '-s', '--', 'uninstall'] as const
  const nothing = await install(t, script, { shell })
  t.match(nothing, { code: 0, out: /is not in .*; there is nothing to remove/ })

  const { home, folder } = await install(t, script)
  writeFileSync(join(folder, 'other'), 'of somebody else')
  mkdirSync(join(home, '.config/service-analyzer'), { recursive: true })
  // neither Node nor a network is needed for it
  const removed = await install(t, script, { shell, home, path: toolbox(t, []) })
  t.match(removed, { code: 0, err: '', installed: ['other'] })
  t.match(removed.out, /saved analyzer key is still there.*\n {2}rm -r ".*\/service-analyzer"/)

  const target = temporaryFolder(t)
  const environment = { SERVICE_INSTALL_DIR: target }
  writeFileSync(join(target, 'service-analyzer'), 'of somebody else')
  writeFileSync(join(target, 'service-analyzer.mjs'), '#!/usr/bin/env node\n// other\n')
  const refused = await install(t, script, { shell, environment })
  t.match(refused, { code: 1, err: /is not what this script has installed.*Nothing has been rem/s })
  t.strictSame(readdirSync(target), WHOLE)

  rmSync(join(target, 'service-analyzer.mjs'))
  rmSync(join(target, 'service-analyzer'))
  symlinkSync('/opt/other', join(target, 'service-analyzer'))
  for (const given of [{ environment }, { environment, shell }])
    t.match(await install(t, script, given), { code: 1, err: /is not what this script puts there/ })
  t.equal(readlinkSync(join(target, 'service-analyzer')), '/opt/other')

  const wrong = await install(t, script, { shell: ['/bin/sh', '-s', '--', 'remove'] })
  t.match(wrong, { code: 1, err: /nothing called "remove".*uninstall/s, installed: [] })
})

void t.test('it asks for no other rights', async (t) => {
  const { script } = await service
  t.notMatch(script, /\b(?:sudo|doas|su) /)
})

void t.test('a download that is not the one it was made for is not installed', async (t) => {
  const { script, baseUrl } = await service
  const change: { of: (bytes: Buffer) => Buffer } = { of: (bytes) => bytes }
  const between = createServer((request, response) => {
    void fetch(`${baseUrl}${request.url}`).then(async (answer) => {
      response.writeHead(answer.status).end(change.of(Buffer.from(await answer.arrayBuffer())))
    })
  })
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
  t.teardown(() => between.close())
  const { port } = between.address() as AddressInfo
  const environment = { SERVICE_BASE_URL: `http://127.0.0.1:${port}/` }
  t.match(await install(t, script, { environment }), { code: 0, installed: WHOLE })

  const changes: Record<string, (bytes: Buffer) => Buffer> = {
    'one byte more': (bytes) => Buffer.concat([bytes, Buffer.from('\n')]),
    'cut in the middle': (bytes) => bytes.subarray(0, bytes.length / 2),
    'something else': () => Buffer.from('#!/bin/sh\necho hello\n'),
    'nothing at all': () => Buffer.alloc(0),
  }
  for (const [name, of] of Object.entries(changes)) {
    change.of = of
    const { code, err, installed, home } = await install(t, script, { environment })
    t.equal(code, 1, name)
    t.match(err, /not what this script was made for.*Nothing has been installed/s)
    t.strictSame([installed, readdirSync(home)], [[], []], 'the home is as it was')
  }
})

void t.test('what is missing is named, and nothing is installed', async (t) => {
  const { script } = await service
  const node = (says: string) => ({ node: `#!/bin/sh\necho '${says}'\n` })
  const cases: readonly (readonly [Wish, RegExp])[] = [
    [{ path: toolbox(t, ['node', 'curl']) }, /cannot be checked: there is no sha256sum/],
    [{ path: toolbox(t, ['node', 'sha256sum']) }, /neither curl nor wget/],
    [
      { path: toolbox(t, ['curl', 'sha256sum']) },
      /Node\.js 20 or later is needed, and there is no/,
    ],
    [{ path: toolbox(t, ['curl', 'sha256sum'], node('18.20.4')) }, /needed, and this is 18\.20\.4/],
    [{ path: toolbox(t, ['curl', 'sha256sum'], node('what?')) }, /does not tell its version/],
    [{ environment: { SERVICE_BASE_URL: 'ftp://a.example' } }, /is not an address like https:/],
    [{ environment: { SERVICE_BASE_URL: 'http://127.0.0.1:1' } }, /cannot be fetched/],
    [{ environment: { HOME: '' } }, /Neither HOME nor SERVICE_INSTALL_DIR/],
  ]
  for (const [wish, says] of cases) {
    const { code, err, installed, home } = await install(t, script, wish)
    t.equal(code, 1, String(says))
    t.match(err, says)
    t.match(err, /Nothing has been installed/)
    t.strictSame([installed, readdirSync(home)], [[], []])
  }
  const twenty = toolbox(t, ['curl', 'sha256sum'], node('20.0.0'))
  t.match(await install(t, script, { path: twenty }), { code: 0 })
})

void t.test('a second installation takes the place of the first as a whole', async (t) => {
  const { script } = await service
  const { home, folder } = await install(t, script)
  writeFileSync(join(folder, 'service-analyzer.mjs'), 'an older one')
  t.match(await install(t, script, { home }), { code: 0, installed: WHOLE })
  t.match(await runInstalled(folder, '--version'), { out: `${VERSION}\n` })
  t.ok(lstatSync(join(folder, 'service-analyzer')).isSymbolicLink())
  t.equal(lstatSync(join(folder, 'service-analyzer.mjs')).mode & 0o777, 0o755)

  // what somebody else has put there is no reason to fail, and is not written through
  const other = join(temporaryFolder(t), 'other')
  writeFileSync(other, 'of somebody else')
  const target = temporaryFolder(t)
  symlinkSync(other, join(target, 'service-analyzer.mjs'))
  const wish = { environment: { SERVICE_INSTALL_DIR: target } }
  t.match(await install(t, script, wish), { code: 0 })
  t.equal(readFileSync(other, 'utf8'), 'of somebody else')
})

void t.test('goes where it is told, and says whether that is on the PATH', async (t) => {
  const { script } = await service
  const away = `${temporaryFolder(t)}/it's a "good" $place`
  const told = await install(t, script, { environment: { SERVICE_INSTALL_DIR: `${away}/` } })
  t.strictSame(told.installed, [])
  t.match(told, { code: 0, out: /is not on your PATH/ })
  t.strictSame(readdirSync(away).sort(), WHOLE)
  t.match(await runInstalled(away, '--version'), { code: 0 })

  const tools = toolbox(t, ['node', 'curl', 'sha256sum'])
  const path = `${tools}:${away}`
  const onPath = await install(t, script, { path, environment: { SERVICE_INSTALL_DIR: away } })
  t.match(onPath, { code: 0 })
  t.notMatch(onPath.out, /not on your PATH/)

  const relative = await install(t, script, { environment: { SERVICE_INSTALL_DIR: 'tools' } })
  t.match(relative, { code: 0 })
  t.strictSame(relative.installed, [])
  t.strictSame(readdirSync(join(relative.home, 'tools')).sort(), WHOLE)
})

void t.test('where it cannot write it says so, and leaves nothing half done', async (t) => {
  const { script } = await service
  const place = temporaryFolder(t)
  writeFileSync(join(place, 'file'), '')
  const inFile = { environment: { SERVICE_INSTALL_DIR: join(place, 'file/bin') } }
  t.match(await install(t, script, inFile), { code: 1, err: /cannot be made/ })
  mkdirSync(join(place, 'service-analyzer'))
  const onFolder = { environment: { SERVICE_INSTALL_DIR: place } }
  t.match(await install(t, script, onFolder), { code: 1, err: /is a directory/ })
  t.strictSame(readdirSync(place).sort(), ['file', 'service-analyzer'])

  const path = toolbox(t, ['node', 'curl', 'sha256sum'], { chmod: '#!/bin/sh\nexit 1\n' })
  const failed = await install(t, script, { path })
  t.match(failed, { code: 1, err: /cannot be written to/ })
  t.strictSame(failed.installed, [])
})

void t.test('a script that arrives only in part does nothing', async (t) => {
  const { script } = await service
  const end = script.lastIndexOf('\nmain')
  for (const share of [0.25, 0.5, 0.75, 0.9]) {
    const part = script.slice(0, end * share)
    t.strictSame((await install(t, part)).installed, [], `${share * 100} %`)
  }
})

void t.test(
  'shellcheck has nothing to say',
  { skip: !find('shellcheck') && 'no shellcheck' },
  async (t) => {
    const { script } = await service
    const file = join(temporaryFolder(t), 'install')
    writeFileSync(file, script)
    const said = await new Promise<string>((resolve) =>
      execFile(find('shellcheck') ?? '', ['--shell=sh', file], (_error, out) => resolve(out)),
    )
    t.equal(said, '')
  },
)
