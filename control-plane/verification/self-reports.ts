/**
 * What the command line tool has found on the integrator's machine. Recorded and labelled as their
 * own word: it stands beside what the platform sees, and never in its place.
 */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { trimSelfReports, upsertChecks } from '../store/queries/verification.ts'
import type { Actor, Store } from '../store/store.ts'
import type { CheckResult } from './checks.ts'

interface SelfReport {
  readonly cliVersion: string
  /** null where the tool has not recognised it. */
  readonly framework: string | null
  readonly language: string | null
  readonly checks: readonly CheckResult[]
}

export function createSelfReports({ store }: { readonly store: Store }) {
  return {
    /** Answers how many were recorded. A newer result of a check replaces the older one. */
    async record(tenantId: string, report: SelfReport, actor: Actor): Promise<number> {
      const { cliVersion, framework, language, checks } = report
      const names = checks.map(({ check }) => check)
      if (new Set(names).size < names.length)
        throw new Refusal('field_invalid', { field: 'checks' }, 'A check appears twice.')
      await store.change(async (change) => {
        const { queries, nowMs } = change
        const source = 'self_report' as const
        const rows = checks.map((check) => ({ ...check, tenantId, source, at: nowMs }))
        await upsertChecks(queries, rows)
        await trimSelfReports(queries, tenantId, LIMITS.selfReportsKeptMax)
        const content = { cli_version: cliVersion, framework, language, checks: names }
        await change.audit(actor, { action: 'verification.self_reported', tenantId, content })
      })
      return checks.length
    },
  }
}
