/** What stands between a tenant and going live, each with the one thing to do about it. Pure. */
import { LIMITS } from '../../../../shared/limits.ts'
import type { CheckRow } from '../../../store/queries/verification.ts'
import type { Tenant } from '../../../store/queries/tenants.ts'
import { failedLocally, REQUIRED_CHECKS } from '../../../tenants/protection.ts'
import { ageText } from '../../blocks/text.ts'
import { checkTitle } from '../check-titles.ts'
import { withoutTrailing } from '../../../../shared/trailing.ts'

export interface Obstacle {
  readonly what: string
  readonly todo: string
  /** Of the command-line tool's report, which a person may overrule. */
  readonly isReported?: true
}

interface ReadinessView {
  readonly tenant: Pick<Tenant, 'status' | 'licenceBlocksSignin'>
  readonly checks: readonly CheckRow[]
  readonly nowMs: number
}

/** In the order in which the service would name them (`tenants/protection.ts`). */
export function obstaclesOf({ tenant, checks, nowMs }: ReadinessView): Obstacle[] {
  if (tenant.status === 'suspended')
    return [{ what: 'This tenant is suspended.', todo: 'Ask an operator to activate it.' }]
  if (tenant.status === 'draft')
    return [{ what: 'Not published yet.', todo: 'Publish it under Start.' }]
  const ofChecks = REQUIRED_CHECKS.flatMap((name) => {
    const row = checks.find(({ check, source }) => check === name && source === 'platform')
    return obstacleOf(name, row, nowMs)
  })
  const reported = failedLocally(checks, nowMs).map(({ check, detail, nextAction }) => ({
    what: `${checkTitle(check)} (command-line tool): ${detail}`,
    todo: `${withoutTrailing(nextAction, '. \n')}. Then run: service-analyzer verify`,
    isReported: true as const,
  }))
  const found = [...ofChecks, ...reported]
  if (!tenant.licenceBlocksSignin) return found
  return [
    ...found,
    {
      what: 'The license blocks sign-in, so no one could sign in.',
      todo: 'Ask an operator to renew the license.',
    },
  ]
}

function obstacleOf(name: string, row: CheckRow | undefined, nowMs: number): Obstacle[] {
  const title = checkTitle(name)
  if (row === undefined) return [{ what: `${title}: not checked yet.`, todo: 'Run the checks.' }]
  if (row.status !== 'pass')
    return [{ what: `${title}: ${row.detail}`, todo: row.nextAction || 'Run the checks again.' }]
  if (isFresh(row, nowMs)) return []
  const age = ageText(row.at, nowMs)
  return [{ what: `${title}: last checked ${age}, too long ago.`, todo: 'Run the checks again.' }]
}

/** What was seen counts for going live for a day. */
export function isFresh({ at }: Pick<CheckRow, 'at'>, nowMs: number): boolean {
  return at > nowMs - LIMITS.verificationValidMs
}
