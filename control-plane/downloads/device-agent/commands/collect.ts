/** The collector: finds out how this machine is, once, and takes a newer program if there is one. As root. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { VERSION } from '../../../../shared/version.ts'
import { baseUrlOf } from '../../command-line/base-url.ts'
import { EXIT } from '../../command-line/exit.ts'
import { createSystemctl } from '../../resident/systemctl.ts'
import { collectFacts } from '../facts/collect.ts'
import { createMachine } from '../facts/reader.ts'
import { factsFile } from '../places.ts'
import { writeFacts } from '../running/facts-file.ts'
import { createAgentService } from '../service/agent-service.ts'
import { newestOf, updatesFolder } from '../state/running-state.ts'
import { LISTENER } from '../systemd/units.ts'
import { isNewer } from '../update/manifest.ts'
import { update } from '../update/update.ts'
import type { Command, Task } from './command.ts'

export const collect: Command = {
  name: 'collect',
  summary: 'Collects the state of this machine once. Run it every five minutes, as root.',
  options: ['facts', 'print'],
  actions: [],
  async run(task) {
    const { given, world, print } = task
    const { platform, environment, nowMs, upS } = world
    const file = given.values.get('facts') ?? factsFile(world)
    const earlierFile = join(dirname(file), 'earlier.json')
    const earlier = await readEarlier(earlierFile)
    const machine = createMachine({ platform, systemRoot: environment['SystemRoot'], nowMs })
    const found = await collectFacts(machine, earlier)
    if (given.values.has('print')) {
      print(JSON.stringify({ ...found, agent: VERSION }, undefined, 2))
      return EXIT.done
    }
    await writeFacts(file, { version: 1, up_s: upS(), ...found })
    await writeEarlier(earlierFile, earlier)
    await updateIfDue(task, file)
    return EXIT.done
  },
}

const EarlierSchema = v.record(v.string(), v.string())

/** It only spares this machine work: what cannot be read is found out anew. */
async function readEarlier(file: string): Promise<Map<string, string>> {
  try {
    return new Map(Object.entries(v.parse(EarlierSchema, JSON.parse(await readFile(file, 'utf8')))))
  } catch {
    return new Map()
  }
}

async function writeEarlier(file: string, earlier: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o755 })
  const text = `${JSON.stringify(Object.fromEntries(earlier))}\n`
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/** So often it is asked for a newer one without being told: the keys that sign them change, too. */
const LOOK_EVERY_S = 24 * 3600

async function isLookDue(file: string, upS: number): Promise<boolean> {
  const last = Number(await readFile(file, 'utf8').catch(() => 'none'))
  if (last <= upS && upS - last < LOOK_EVERY_S) return false
  await writeFile(file, String(Math.floor(upS)), { mode: 0o600 })
  return true
}

/** That there is a newer one is heard by the listener; what is taken, and whether, is decided here. */
async function updateIfDue({ world, state, proxies, remark }: Task, facts: string): Promise<void> {
  const { environment, userId, root, nodeFile, programFile, tpm } = world
  const device = await state.read()
  if (device === null) return
  const { update: told } = await newestOf(device, userId, root)
  const isTold = told !== null && isNewer(told, VERSION)
  if (!isTold && !(await isLookDue(join(dirname(facts), 'looked.json'), world.upS()))) return
  const service = createAgentService({ baseUrl: baseUrlOf(environment, device.base_url), proxies })
  const believed = updatesFolder(world, state)
  const wish = { state: believed, service, tool: tpm.tool, nodeFile, programFile, version: VERSION }
  const updated = await update(wish).catch((error: unknown) => {
    return { kind: 'refused' as const, why: error instanceof Error ? error.message : 'it failed' }
  })
  if (updated.kind === 'refused') remark(`No update: ${updated.why}.`)
  if (updated.kind !== 'updated') return
  remark(`Updated from ${VERSION} to ${updated.version}.`)
  if (world.platform === 'linux')
    await createSystemctl('service-device-agent')('try-restart', LISTENER).catch(() => undefined)
}
