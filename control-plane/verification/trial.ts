/** What every step of a trial goes by. */
import { SECOND_MS } from '../../shared/clock.ts'
import type { TrialPeople, TrialPerson } from '../accounts/trial-people.ts'
import type { Tenant } from '../tenants/tenants.ts'
import type { Page, TrialBrowser } from './trial-browser.ts'

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

/** Whether the front page is refused without a session: not in pass-through, and not if excluded. */
export function isFrontGuarded({ tenant }: Trial): boolean {
  return tenant.protection === 'on' && !tenant.excluded.includes('/')
}

/** How long a session that has ended may still be let in somewhere. */
export function signOutMsMax({ pollAfterMs }: Trial, edgeMsMax: number): number {
  return pollAfterMs === 0 ? edgeMsMax : pollAfterMs + SECOND_MS + edgeMsMax
}
