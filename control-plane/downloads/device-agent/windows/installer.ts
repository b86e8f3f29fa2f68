/** `install.ps1`, made for one control plane, and for one ticket where it is given one. */
import { readFile } from 'node:fs/promises'

export interface WindowsInstallerWish {
  readonly baseUrl: string
  /** Lower-case hex, of the program. */
  readonly agentSha256: string
  /** Of each runtime that this control plane hands out. */
  readonly nodeSha256: { readonly x64?: string | undefined; readonly arm64?: string | undefined }
  /** Asked for where the script holds none. */
  readonly ticket?: string | undefined
}

export async function windowsInstaller(wish: WindowsInstallerWish): Promise<string> {
  const { baseUrl, agentSha256, nodeSha256, ticket = '' } = wish
  const script = await readFile(new URL('install.ps1', import.meta.url), 'utf8')
  const values: Readonly<Record<string, string>> = {
    BASE_URL: baseUrl.replace(/\/$/, ''),
    TICKET: ticket,
    AGENT_SHA256: agentSha256,
    NODE_X64_SHA256: nodeSha256.x64 ?? '',
    NODE_ARM64_SHA256: nodeSha256.arm64 ?? '',
  }
  return script.replaceAll(/@([A-Z0-9_]+)@/g, (_whole, place: string) => {
    const value = values[place]
    if (value === undefined) throw new Error(`${place} is not a place of this script`)
    return literal(value)
  })
}

/** All that PowerShell takes for a single quote, also those of typesetters; doubled, each is one. */
const SINGLE_QUOTES = /['\u2018\u2019\u201A\u201B]/g

/** One value between single quotes, where nothing else means anything. */
function literal(value: string): string {
  // a script is ASCII, whatever code page it is read in
  if (!/^[\x20-\x7e\u2018-\u201B]*$/.test(value))
    throw new Error('That cannot stand in a PowerShell script')
  return `'${value.replaceAll(SINGLE_QUOTES, '$&$&')}'`
}
