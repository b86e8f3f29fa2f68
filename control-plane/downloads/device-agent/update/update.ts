/**
 * Takes a newer program, as root: believed by keys that root alone keeps, never by what the listener
 * says. Written aside, tried, and renamed into place, so that there is always a whole one.
 */
import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { RunTool } from '../key/tools.ts'
import type { AgentService } from '../service/agent-service.ts'
import type { DeviceFolder } from '../state/device-state.ts'
import { isNewer, manifestIn } from './manifest.ts'

interface UpdateWorld {
  /** Of root. */
  readonly state: Pick<DeviceFolder, 'readUpdates' | 'writeUpdates'>
  readonly service: Pick<AgentService, 'fetchFile'>
  readonly tool: RunTool
  readonly nodeFile: string
  readonly programFile: string
  /** Of the program that runs. */
  readonly version: string
}

/** Refused: nothing was changed. */
type Updated =
  | { readonly kind: 'updated'; readonly version: string }
  | { readonly kind: 'current' }
  | { readonly kind: 'refused'; readonly why: string }

export async function update(world: UpdateWorld): Promise<Updated> {
  const { state, service, programFile, version } = world
  const believed = await state.readUpdates()
  if (believed === null) return refused('this machine knows no key to believe an update by')
  const text = (await service.fetchFile('/install/agent/latest')).toString('latin1').trim()
  const manifest = manifestIn(text, believed)
  if (manifest === null) return refused('nobody whom this machine believes has signed it')
  // the next key is believed because one that is believed now says so
  if (JSON.stringify(manifest.keys) !== JSON.stringify(believed.keys))
    await state.writeUpdates({ version: 1, keys: manifest.keys })
  if (manifest.version === version) return { kind: 'current' }
  if (!isNewer(manifest.version, version)) return refused(`${manifest.version} is older`)
  const bytes = await service.fetchFile('/install/agent/agent.mjs')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (bytes.length !== manifest.bytes || sha256 !== manifest.sha256)
    return refused('the program is not the one that was signed')
  const draft = join(dirname(programFile), '.agent-next.mjs')
  try {
    await write(draft, bytes)
    if (!(await starts(draft, manifest.version, world)))
      return refused('the program does not start on this machine')
    await rename(draft, programFile)
  } finally {
    await rm(draft, { force: true })
  }
  return { kind: 'updated', version: manifest.version }
}

const refused = (why: string): Updated => ({ kind: 'refused', why })

/** Whatever lies there under that name is not written through. */
async function write(path: string, bytes: Buffer): Promise<void> {
  await rm(path, { force: true })
  const handle = await open(path, 'wx', 0o644)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function starts(
  draft: string,
  version: string,
  { tool, nodeFile }: Pick<UpdateWorld, 'tool' | 'nodeFile'>,
): Promise<boolean> {
  const { code, out } = await tool(nodeFile, [draft, '--version'], { folder: dirname(draft) })
  return code === 0 && out.toString('utf8').trim() === version
}
