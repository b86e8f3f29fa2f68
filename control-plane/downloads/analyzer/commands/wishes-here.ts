/** What the service wants of an application here: asked of it where a key is known, else by custom. */
import type { Facts } from '../api.ts'
import type { Wishes } from '../edits/wishes.ts'
import { EXIT, Problem } from '../../command-line/exit.ts'
import type { Task } from './command.ts'

export interface ServiceAnswer {
  readonly wishes: Wishes
  /** A stored guide as it came; null: none, or nobody was asked. */
  readonly guide: Readonly<Record<string, unknown>> | null
}

/**
 * A service that cannot be reached stops nobody: the rules know enough. One that refuses the key
 * does, as it was given for a reason.
 */
export async function askService(task: Task): Promise<ServiceAnswer> {
  const api = await task.access.apiIfKeyKnown()
  if (api === null) return { wishes: wishesOf(task), guide: null }
  const wantsGuide = !task.given.flags.has('rules')
  try {
    return await task.terminal.during('Contacting the service', async () => {
      const facts = await api.facts()
      const [pem, guide] = await Promise.all([api.publicKey(), wantsGuide ? api.guide() : null])
      return { wishes: wishesOf(task, facts, pem), guide }
    })
  } catch (error) {
    const isAway = error instanceof Problem && error.exit === EXIT.unavailable
    if (!isAway) throw error
    task.warn(`${error.lines[0] ?? ''} Continuing with the built-in rules, without the public key.`)
    return { wishes: wishesOf(task), guide: null }
  }
}

/** Without `facts`: as custom has it. */
export function wishesOf(
  task: Task,
  facts: Facts | null = null,
  publicKeyPem: string | null = null,
): Wishes {
  const { text: baseUrl } = task.access.baseUrl()
  return {
    mode: task.given.mode ?? facts?.mode ?? 'gateway',
    baseUrl,
    tenantId: facts?.tenant_id ?? null,
    publicKeyPem,
    sdkUrl: `${baseUrl}/api/v1/sdk/node`,
  }
}
