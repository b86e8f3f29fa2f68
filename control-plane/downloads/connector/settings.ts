/** Where the state lies. */
import { isAbsolute, join } from 'node:path'
import type { Environment } from '../command-line/base-url.ts'

interface Place {
  readonly environment: Environment
  readonly homeFolder: string
  readonly userId: number | undefined
  readonly platform: string
}

/** For root `/var/lib`; for others where programs keep what is theirs. */
export function defaultStateFolder({ environment, homeFolder, userId, platform }: Place): string {
  const name = 'service-connector'
  if (platform === 'win32')
    return join(environment['LOCALAPPDATA'] ?? join(homeFolder, 'AppData', 'Local'), name)
  if (userId === 0) return `/var/lib/${name}`
  const configured = environment['XDG_STATE_HOME'] ?? ''
  // a relative one does not count (XDG Base Directory Specification)
  return join(isAbsolute(configured) ? configured : join(homeFolder, '.local', 'state'), name)
}
