/** The agent as services of this machine: what is put where, and how it is taken back. */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '../../command-line/base-url.ts'
import { Problem } from '../../command-line/exit.ts'
import { PROXY_CREDENTIAL } from '../../resident/given-proxy.ts'
import {
  checkPath,
  checkService,
  isThere,
  unitEnvironment,
  usableNode,
  type ServiceMachine,
} from '../../resident/machine.ts'
import type { Systemctl } from '../../resident/systemctl.ts'
import type { TpmWorld } from '../key/tpm-key.ts'
import { OWN_STATE, RUNNING_STATE, runningFolder } from '../places.ts'
import { FILES, type DeviceFolder } from '../state/device-state.ts'
import { COLLECTOR, LISTENER, TIMER, UNIT_MARK, unitTexts } from './units.ts'

interface InstallationWorld extends ServiceMachine {
  readonly systemctl: Systemctl
}

interface Wish {
  readonly state: DeviceFolder
  readonly environment: Environment
  readonly nodeFile: string
  readonly programFile: string
  readonly tpm: Pick<TpmWorld, 'device'>
}

const OURS = {
  run: 'service-device-agent run',
  install: 'service-device-agent service install',
} as const

/** Since 247 there are credentials. */
const SYSTEMD_LEAST = 247

const unitPath = (root: string, name: string) => join(root, 'etc/systemd/system', name)

/** By name. The program is where its installer has put it, and where only root can write. */
export async function unitsFor(wish: Wish, root: string) {
  const { state, environment } = wish
  const device = await state.require()
  const programFile = checkPath(wish.programFile)
  const given = unitEnvironment(environment)
  const { secretProxy } = given
  const credentials = {
    [FILES.device]: checkPath(join(state.path, FILES.device)),
    ...(secretProxy !== undefined && { [PROXY_CREDENTIAL]: join(state.path, PROXY_CREDENTIAL) }),
  }
  const texts = unitTexts({
    nodeFile: await usableNode(wish.nodeFile),
    programFile,
    programFolder: join(programFile, '..'),
    credentials,
    environment: given.environment,
    tpm: device.key.storage === 'tpm' ? await tpmOf(wish.tpm) : undefined,
  })
  return { texts, secretProxy, root }
}

async function tpmOf({ device }: Pick<TpmWorld, 'device'>) {
  return device === null ? undefined : { device, group: (await stat(device)).gid }
}

export async function install(world: InstallationWorld, wish: Wish): Promise<void> {
  const { root, systemctl } = world
  await checkService(world, OURS)
  const [, version = '0'] = /^systemd (\d+)/.exec(await systemctl('--version')) ?? []
  if (Number(version) < SYSTEMD_LEAST)
    throw new Problem(
      'systemd_missing',
      `systemd ${SYSTEMD_LEAST} or later is needed, and this is ${version}.`,
      'Start "service-device-agent run" from a unit of your own.',
    )
  const { texts, secretProxy } = await unitsFor(wish, root)
  for (const name of Object.keys(texts)) await refuseForeign(unitPath(root, name))
  if (secretProxy !== undefined)
    await writeFile(join(wish.state.path, PROXY_CREDENTIAL), `${secretProxy}\n`, { mode: 0o600 })
  await mkdir(join(root, 'etc/systemd/system'), { recursive: true })
  for (const [name, text] of Object.entries(texts))
    await writeFile(unitPath(root, name), text, { mode: 0o644 })
  await systemctl('daemon-reload')
  for (const name of [LISTENER, TIMER]) {
    await systemctl('enable', name)
    await systemctl('restart', name)
  }
}

/** Whether the services of this machine are ours: they have to be told of a device that is a new one. */
export const isInstalled = (root: string): Promise<boolean> =>
  refuseForeign(unitPath(root, LISTENER)).catch(() => false)

/** False: nothing was installed. What the listener kept stays until the device has left. */
export async function uninstall(world: InstallationWorld): Promise<boolean> {
  const { root, systemctl } = world
  await checkService(world, OURS)
  const names = Object.keys(unitTexts(NOTHING))
  const there: string[] = []
  for (const name of names) if (await refuseForeign(unitPath(root, name))) there.push(name)
  if (there.length === 0) return false
  await systemctl('disable', '--now', ...there.filter((name) => [LISTENER, TIMER].includes(name)))
  // what is on its way would write once more, behind its folder's end
  if (there.includes(COLLECTOR)) await systemctl('stop', COLLECTOR)
  for (const name of there) await rm(unitPath(root, name), { force: true })
  await systemctl('daemon-reload')
  // one that was ended amid its work has failed, which systemd remembers without its file; or it has not
  for (const name of there) await systemctl('reset-failed', name).catch(() => undefined)
  return true
}

const NOTHING = {
  ...{ nodeFile: '', programFile: '', programFolder: '' },
  ...{ credentials: {}, environment: {}, tpm: undefined },
}

/** All that units of ours have made beside the folder that root has enrolled into. */
export async function removeTraces(root: string): Promise<void> {
  const link = join(root, 'var/lib', RUNNING_STATE)
  for (const path of [link, runningFolder(root), join(root, 'run', OWN_STATE)])
    await rm(path, { recursive: true, force: true })
}

/** False: there is none. Somebody else's stays. */
async function refuseForeign(path: string): Promise<boolean> {
  if (!(await isThere(path))) return false
  if ((await readFile(path, 'utf8')).startsWith(UNIT_MARK)) return true
  throw new Problem(
    'unit_foreign',
    `${path} was not written by this program, so it is left alone.`,
    'Move it away yourself if you want to.',
  )
}
