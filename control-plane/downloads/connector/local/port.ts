/** `--local-port`, as it is written. */
import { invalid } from '../arguments.ts'
import { newestFolder } from '../systemd/running-state.ts'
import type { Joined, StateFolder } from '../state/state-folder.ts'
import { LOCAL_PORT } from './listener.ts'

/** Where `run` listens. Undefined: nowhere. */
export function readLocalPort(text: string | undefined): number | undefined {
  if (text === undefined) return LOCAL_PORT
  if (text === 'none' || text === '0') return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN
  if (port >= 1 && port <= 65_535) return port
  throw invalid(
    `--local-port must be a port from 1 to 65535, or none; the default is ${LOCAL_PORT}.`,
  )
}

/** Where the connector of a folder is asked: as written, or as the one that runs has left it there. */
export async function findLocalPort(
  text: string | undefined,
  { state, joined, userId }: { state: StateFolder; joined: Joined; userId: number | undefined },
): Promise<number | undefined> {
  if (text !== undefined) return readLocalPort(text)
  const folder = await newestFolder(state, joined, userId)
  const known = await folder.readLocalPort().catch(() => undefined)
  return known === undefined ? LOCAL_PORT : (known ?? undefined)
}
