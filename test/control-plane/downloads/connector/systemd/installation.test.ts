/** `service install` and `uninstall` on a machine below a folder, with a systemctl that takes notes. */
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Problem } from '../../../../../control-plane/downloads/command-line/exit.ts'
import {
  checkMachine,
  install,
  uninstall,
  unitFor,
} from '../../../../../control-plane/downloads/connector/systemd/installation.ts'
import { createStateFolder } from '../../../../../control-plane/downloads/connector/state/state-folder.ts'
import { runningFolder } from '../../../../../control-plane/downloads/connector/systemd/running-state.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { joinedHere } from '../../../../support/joined-connector.ts'

const UNIT = 'etc/systemd/system/service-connector.service'
const SECRET_PROXY = 'http://ada:a-proxy-password@proxy.example:3128'

async function machine(t: Test, options: { version?: string; environment?: object } = {}) {
  const root = temporaryFolder(t)
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true })
  const { folder, privateKey } = await joinedHere(t)
  // The one node that may be used is one that everybody may use.
  const state = createStateFolder(folder, { userId: process.getuid?.() })
  const programFile = join(root, 'downloaded.mjs')
  writeFileSync(programFile, '// service-connector')
  const asked: string[] = []
  const systemctl = async (...args: readonly string[]) => {
    asked.push(args.join(' '))
    return args[0] === '--version' ? `systemd ${options.version ?? '252'} (252.1)\n` : ''
  }
  const world = { root, systemctl, userId: 0, platform: 'linux' }
  const wish = {
    state,
    environment: { ...options.environment },
    nodeFile: '/usr/bin/env',
    programFile,
    localPort: '20317',
  }
  return { root, folder, privateKey, state, asked, world, wish, unit: join(root, UNIT) }
}

/** Every file below, by its path from there. */
const filesIn = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .sort()

t.test('installed, it runs a copy of its own, and what is secret is in no unit', async (t) => {
  const environment = { HTTPS_PROXY: SECRET_PROXY, NO_PROXY: '10.0.0.0/8', SECRET: 'of somebody' }
  const { world, wish, unit, asked, root, folder, privateKey } = await machine(t, { environment })
  const before = filesIn(root)
  await install(world, wish)
  t.strictSame(asked, [
    '--version',
    'daemon-reload',
    'enable service-connector.service',
    'restart service-connector.service',
  ])
  const program = 'usr/local/lib/service-connector/service-connector.mjs'
  t.strictSame(filesIn(root), [...before, UNIT, program].sort())
  t.equal(readFileSync(join(root, program), 'utf8'), '// service-connector')
  t.equal(statSync(join(root, program)).mode & 0o777, 0o644)
  const text = readFileSync(unit, 'utf8')
  t.match(text, `LoadCredential=connector.json:${folder}/connector.json`)
  t.match(text, `LoadCredential=https-proxy:${folder}/https-proxy`)
  t.match(text, 'Environment="NO_PROXY=10.0.0.0/8"')
  for (const secret of [privateKey, 'a-proxy-password', 'of somebody', 'HTTPS_PROXY'])
    t.notOk(text.includes(secret), secret)
  t.equal(statSync(join(folder, 'https-proxy')).mode & 0o777, 0o600)

  t.equal(await uninstall(world, wish.state), true)
  t.strictSame(filesIn(root), before, 'nothing is left')
  t.notOk(existsSync(join(folder, 'https-proxy')))
  t.match(asked.slice(4), ['disable --now service-connector.service', 'daemon-reload'])
  t.not(await wish.state.read(), null, 'it is joined still')
  t.equal(await uninstall(world, wish.state), false)
})

t.test('a key that was replaced while it ran comes back with it', async (t) => {
  const { world, wish, root } = await machine(t)
  await install(world, wish)
  const joined = await wish.state.require()
  const newer = { ...joined, key: { ...joined.key, key_id: 'k2' } }
  await createStateFolder(runningFolder(root), { userId: undefined }).write(newer)
  // Whatever folder is named: it comes back to the one that it was given from.
  const elsewhere = createStateFolder(join(root, 'none'), { userId: process.getuid?.() })
  t.equal(await uninstall(world, elsewhere), true)
  t.match(await wish.state.read(), { key: { key_id: 'k2' } })
  t.notOk(existsSync(runningFolder(root)))
})

t.test('a proxy without a password is no secret', async (t) => {
  const environment = { https_proxy: 'http://proxy.example:3128' }
  const { wish, root } = await machine(t, { environment })
  const { text, secretProxy } = await unitFor(wish, root)
  t.match(text, 'Environment="HTTPS_PROXY=http://proxy.example:3128"')
  t.equal(secretProxy, undefined)
})

t.test('what stands in the way is said, and nothing is written', async (t) => {
  const { world, wish, root, unit, folder } = await machine(t)
  const before = filesIn(root)
  const refused = async (change: object, code: string, wishes: object = {}) =>
    t.rejects(install({ ...world, ...change }, { ...wish, ...wishes }), { code })
  await refused({ userId: 1000 }, 'root_needed')
  await refused({ platform: 'win32' }, 'systemd_missing')
  await refused({ root: temporaryFolder(t) }, 'systemd_missing')
  await refused({ systemctl: async () => 'systemd 245 (245.4)\n' }, 'systemd_missing')
  const nowhere = createStateFolder(join(folder, 'none'), { userId: process.getuid?.() })
  await refused({}, 'not_joined', { state: nowhere })
  const spaced = createStateFolder('/tmp/a b', { userId: undefined })
  await t.rejects(unitFor({ ...wish, state: spaced }, root), { code: 'option_invalid' })
  const own = join(temporaryFolder(t), 'node') // in a folder that only its owner may enter
  writeFileSync(own, '', { mode: 0o755 })
  await refused({}, 'node_private', { nodeFile: own })
  t.strictSame(filesIn(root), before)

  mkdirSync(join(root, 'etc/systemd/system'), { recursive: true })
  writeFileSync(unit, '[Service]\nExecStart=/bin/true\n')
  await refused({}, 'unit_foreign')
  await t.rejects(uninstall(world, wish.state), { code: 'unit_foreign' })
  t.match(readFileSync(unit, 'utf8'), '/bin/true')
  const onWindows = await checkMachine({ ...world, platform: 'win32' }).catch(
    (error: Problem) => error,
  )
  t.match(onWindows?.lines[1], /scheduled task/)
})
