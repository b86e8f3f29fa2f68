/** Where things of the agent lie on a machine. */
import { join } from 'node:path'
import type { Environment } from '../resident/base-url.ts'

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
  if (platform === 'win32') return join(programData(environment), OWN_STATE, 'state')
  return join(root, 'var/lib', OWN_STATE)
}

/** Everybody may read it; only the collector writes it. */
export function factsFile({ environment, platform, root }: Place): string {
  if (platform === 'win32') return join(programData(environment), OWN_STATE, 'facts.json')
  return join(root, 'run', OWN_STATE, 'facts.json')
}

export const runningFolder = (root: string): string => join(root, 'var/lib/private', RUNNING_STATE)

const programData = (environment: Environment) => environment['ProgramData'] ?? 'C:\\ProgramData'
