/** The connector as a service of this machine: what is put where, and how it is taken back. */
import { chmod, copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PROXY_CREDENTIAL } from '../../resident/given-proxy.ts'
import {
  checkPath,
  checkService,
  isThere,
  unitEnvironment,
  usableNode,
  type ServiceMachine,
} from '../../resident/machine.ts'
import { Problem } from '../../command-line/exit.ts'
import type { Environment } from '../../command-line/base-url.ts'
import { createStateFolder, type StateFolder } from '../state/state-folder.ts'
import { IDENTITY, newestOf, runningFolder } from './running-state.ts'
import type { Systemctl } from '../../resident/systemctl.ts'
import { RUNNING_STATE, UNIT_MARK, UNIT_NAME, unitText } from './unit.ts'

interface InstallationWorld extends ServiceMachine {
  readonly systemctl: Systemctl
}

interface Wish {
  readonly state: StateFolder
  readonly environment: Environment
  readonly nodeFile: string
  readonly programFile: string
  readonly localPort: string
}

const places = (root: string) => ({
  unit: join(root, 'etc/systemd/system', UNIT_NAME),
  folder: join(root, 'usr/local/lib/service-connector'),
  program: join(root, 'usr/local/lib/service-connector/service-connector.mjs'),
  running: runningFolder(root),
  link: join(root, 'var/lib', RUNNING_STATE),
})

/** Since 247 there are credentials. */
const SYSTEMD_LEAST = 247

const OURS = {
  run: 'service-connector run',
  install: 'service-connector service install',
} as const

/** Throws where this machine or this user cannot have it. */
export const checkMachine = (world: InstallationWorld): Promise<void> => checkService(world, OURS)

/** What the unit says, and what it is given that is secret. */
export async function unitFor(wish: Wish, root: string) {
  const { state, environment, localPort } = wish
  const { program } = places(root)
  const given = unitEnvironment(environment)
  const { secretProxy: proxy } = given
  const kept = join(state.path, PROXY_CREDENTIAL)
  const credentials = {
    [IDENTITY]: join(state.path, 'connector.json'),
    ...(proxy !== undefined && { [PROXY_CREDENTIAL]: kept }),
  }
  for (const path of Object.values(credentials)) checkPath(path)
  const text = unitText({
    nodeFile: await usableNode(wish.nodeFile),
    programFile: program,
    credentials,
    environment: given.environment,
    localPort,
  })
  return { text, secretProxy: proxy === undefined ? undefined : { path: kept, text: proxy } }
}

export async function install(world: InstallationWorld, wish: Wish): Promise<void> {
  const { root, systemctl } = world
  const { unit, folder, program } = places(root)
  await checkMachine(world)
  await wish.state.require()
  const [, version = '0'] = /^systemd (\d+)/.exec(await systemctl('--version')) ?? []
  if (Number(version) < SYSTEMD_LEAST)
    throw new Problem(
      'systemd_missing',
      `systemd ${SYSTEMD_LEAST} or later is needed, and this is ${version}.`,
      'Start "service-connector run" from a unit of your own.',
    )
  await ourUnit(unit)
  const { text, secretProxy } = await unitFor(wish, root)
  // What runs as a service is not what a user may write to.
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const draft = `${program}.new`
  await copyFile(wish.programFile, draft)
  await chmod(draft, 0o644)
  await rename(draft, program)
  if (secretProxy !== undefined)
    await writeFile(secretProxy.path, `${secretProxy.text}\n`, { mode: 0o600 })
  await mkdir(dirname(unit), { recursive: true })
  await writeFile(unit, text, { mode: 0o644 })
  await systemctl('daemon-reload')
  await systemctl('enable', UNIT_NAME)
  await systemctl('restart', UNIT_NAME)
}

/** False: nothing was installed. The connector's key comes back to the folder that it was given from. */
export async function uninstall(world: InstallationWorld, state: StateFolder): Promise<boolean> {
  const { root, systemctl, userId } = world
  const { unit, folder, running, link } = places(root)
  await checkMachine(world)
  const text = await ourUnit(unit)
  const isLeft = (await isThere(folder)) || (await isThere(running))
  if (text === null && !isLeft) return false
  if (text !== null) await systemctl('disable', '--now', UNIT_NAME)
  await rm(unit, { force: true })
  await systemctl('daemon-reload')
  const origin = text === null ? state : givenFrom(text, state, userId)
  const joined = await origin.read()
  if (joined !== null) await origin.write(await newestOf(joined, userId, root))
  await rm(join(origin.path, PROXY_CREDENTIAL), { force: true })
  for (const path of [link, running, folder]) await rm(path, { recursive: true, force: true })
  return true
}

/** null: there is none. Somebody else's stays. */
async function ourUnit(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch(() => null)
  if (text === null || text.startsWith(UNIT_MARK)) return text
  throw new Problem(
    'unit_foreign',
    `${path} was not written by this program, so it is left alone.`,
    'Move it away yourself if you want to.',
  )
}

/** The folder that its identity was given from, which need not be the one that is named now. */
function givenFrom(unit: string, state: StateFolder, userId: number | undefined): StateFolder {
  const [, file] = /^LoadCredential=connector\.json:(.+)$/m.exec(unit) ?? []
  if (file === undefined) return state
  return createStateFolder(dirname(file.replaceAll('%%', '%')), { userId })
}
