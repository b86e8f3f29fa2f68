/** Shows that one hardware is enrolled twice, and tells nobody which one: the machine's own id, hashed with a name of ours. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunTool } from './key/tools.ts'

interface Place {
  readonly platform: string
  readonly root: string
  readonly hostName: string
  readonly tool: RunTool
}

export async function machineHash(place: Place): Promise<string> {
  const id = (await machineId(place)) ?? `host ${place.hostName}`
  return createHash('sha256').update(`service-device machine 1\n${id}`).digest('base64url')
}

/** What the firmware says survives a new installation; an image that was copied has one of its own. */
async function machineId({ platform, root, tool }: Place): Promise<string | undefined> {
  if (platform === 'win32') {
    const key = 'HKLM\\SOFTWARE\\Microsoft\\Cryptography'
    const { out } = await tool('reg.exe', ['query', key, '/v', 'MachineGuid'], { folder: '.' })
    return /MachineGuid\s+REG_SZ\s+([0-9A-Fa-f-]{36})/.exec(out.toString('latin1'))?.[1]
  }
  for (const path of ['sys/class/dmi/id/product_uuid', 'etc/machine-id']) {
    const text = await readFile(join(root, path), 'utf8').catch(() => '')
    const id = text.trim().toLowerCase()
    // boards that were never given one say zeros or a number that all of them have
    if (/^[0-9a-f-]{32,36}$/.test(id) && !/^(.)\1+$/.test(id.replaceAll('-', ''))) return id
  }
  return undefined
}
