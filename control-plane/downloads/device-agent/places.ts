/** Where things of the agent lie on a machine. */
import { join } from 'node:path'
import type { Environment } from '../command-line/base-url.ts'

/** The state while it runs: of a user that exists for it alone, below `/var/lib/private`. */
export const RUNNING_STATE = 'service-device-agent-running'
export const OWN_STATE = 'service-device-agent'

interface Place {
  readonly environment: Environment
  readonly platform: string
  readonly root: string
}

/** What root enrolled into; the listener has a folder of its own. */
export function stateFolder({ environment, platform, root }: Place): string {
  if (platform === 'win32') return join(dataFolder(environment), 'state')
  return join(root, 'var/lib', OWN_STATE)
}

/** Everybody may read it; only the collector writes it. */
export function factsFile({ environment, platform, root }: Place): string {
  if (platform === 'win32') return join(dataFolder(environment), 'facts.json')
  return join(root, 'run', OWN_STATE, 'facts.json')
}

export const runningFolder = (root: string): string => join(root, 'var/lib/private', RUNNING_STATE)

/** Of Windows: only the system and administrators write there, but for the folder of the state. */
export const dataFolder = (environment: Environment): string =>
  join(environment['ProgramData'] ?? 'C:\\ProgramData', OWN_STATE)
