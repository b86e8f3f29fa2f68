/**
 * One sign-in from end to end, for real: what a browser would do, through the edge or at the
 * application itself, with a person who exists for it alone. Each step is a check of its own; the
 * first that fails, or cannot be taken, ends it.
 */
import { SECOND_MS } from '../../shared/clock.ts'
import type { TrialPeople, TrialPerson } from '../accounts/trial-people.ts'
import type { Tenant } from '../tenants/tenants.ts'
import { skip, type CheckResult } from './checks.ts'
import type { Page, TrialBrowser } from './trial-browser.ts'
import { identityReceived, signedOut } from './trial-session-steps.ts'
import { signInCompleted, signInPageShown, signInStarted } from './trial-sign-in-steps.ts'

export interface Trial {
  readonly tenant: Tenant
  readonly baseUrl: string
  /** Where browsers reach the application: `https://app.example.com`. */
  readonly base: string
  readonly issuer: string
  /** Its users are in its own database, where nobody can be added. */
  readonly hasDirectory: boolean
  /** How long an instance in sdk mode waits between two polls; 0 where an edge enforces. */
  readonly pollAfterMs: number
  readonly people: TrialPeople
  readonly browser: TrialBrowser
  /** Rejects when the whole of it has taken too long. */
  wait(milliseconds: number): Promise<void>
  /** The page that the browser is on. */
  page: Page | undefined
  person: TrialPerson | undefined
}

export type TrialStep = (trial: Trial) => Promise<CheckResult>

const STEPS: readonly (readonly [check: string, step: TrialStep])[] = [
  ['sign_in_started', signInStarted],
  ['sign_in_page_shown', signInPageShown],
  ['sign_in_completed', signInCompleted],
  ['identity_received', identityReceived],
  ['signed_out', signedOut],
]

export async function trySignIn(trial: Trial): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  let stoppedAt: string | undefined
  for (const [check, step] of STEPS) {
    const result =
      stoppedAt === undefined
        ? await step(trial)
        : skip(check, `Not tried: it comes behind ${stoppedAt}.`)
    results.push(result)
    if (result.status === 'fail' || result.status === 'skip') stoppedAt ??= check
  }
  return results
}

/** Whether the front page is refused without a session: not in pass-through, and not if excluded. */
export function isFrontGuarded({ tenant }: Trial): boolean {
  return tenant.protection === 'on' && !tenant.excluded.includes('/')
}

/** How long a session that has ended may still be let in somewhere. */
export function signOutMsMax({ pollAfterMs }: Trial, edgeMsMax: number): number {
  return pollAfterMs === 0 ? edgeMsMax : pollAfterMs + SECOND_MS + edgeMsMax
}
