/** A key that works: the one in the environment, the saved one, or one that somebody allows now. */
import type { Facts } from '../../api.ts'
import { Problem } from '../../../command-line/exit.ts'
import type { Task } from '../command.ts'
import { signIn } from '../login.ts'
import type { Steps } from './steps.ts'
import { untilPublished } from './until-published.ts'

export async function signInStep(task: Task, steps: Steps): Promise<Facts> {
  const known = await knownFacts(task)
  if (known !== null) return signedIn(task, steps, known)
  if (!task.terminal.isInteractive)
    throw new Problem(
      'key_missing',
      'No analyzer key found, and there is no terminal to sign in from.',
      'In a pipeline, set it as a secret: SERVICE_ANALYZER_KEY',
      'At a terminal: service-analyzer setup',
    )
  steps.begin('sign_in')
  return signedIn(task, steps, await signIn(task))
}

async function signedIn(task: Task, steps: Steps, known: Facts): Promise<Facts> {
  const facts = await untilPublished(task, known, await task.access.api())
  steps.done('sign_in', `tenant ${facts.tenant_id}, ${facts.mode} mode`)
  return facts
}

/** null: there is no key, or the saved one is worth nothing any more. */
async function knownFacts({ access, terminal }: Task): Promise<Facts | null> {
  const key = await access.knownKey()
  if (key === null) return null
  const api = access.apiWith(key.text)
  try {
    return await terminal.during('Asking the service', () => api.facts())
  } catch (error) {
    const isRefused = error instanceof Problem && error.code === 'key_refused'
    if (isRefused && key.from === 'profile' && terminal.isInteractive) return null
    throw error
  }
}
