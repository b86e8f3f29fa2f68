/**
 * What analyses may cost: so many an hour for a tenant, so many tokens a day for a tenant and for
 * all. In the database, so that a restart forgets nothing.
 *
 * An analysis counts from the moment that a provider is asked, whatever comes of it: a failed call
 * may have cost as much as another. What was refused before that counts for nothing. Tokens are
 * held before they can be spent, at more than they will be, and corrected once the provider has
 * counted; where it never did, they stay as they were held.
 */
import { randomUUID } from 'node:crypto'
import { DAY_MS, HOUR_MS, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { AnalysisOutcome } from '../store/analysis-tables.ts'
import {
  analysesSince,
  deleteAnalysesBefore,
  insertAnalysis,
  outcomesSince,
  tokensSince,
  updateAnalysis,
} from '../store/queries/analyses.ts'
import { pruneWith } from '../store/statements.ts'
import type { Change, Store } from '../store/store.ts'
import type { AiSettings, Meter } from './provider.ts'

type Budget = Pick<AiSettings, 'tenantTokensPerDay' | 'tokensPerDay'>

export interface AnalysisMeter extends Meter {
  /** In the change that keeps what came of it. */
  finish(change: Change, outcome: AnalysisOutcome): Promise<void>
  spent(): number
  /** Whether a provider was to be asked: the analysis counts. */
  isBegun(): boolean
}

export type Budgets = ReturnType<typeof createBudgets>

export function createBudgets({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
  const dayStartMs = (nowMs: number) => nowMs - (nowMs % DAY_MS)

  async function checkTokens(change: Change, tenantId: string, budget: Budget, more: number) {
    const { queries, nowMs } = change
    const fromMs = dayStartMs(nowMs)
    const ofTenant = await tokensSince(queries, fromMs, tenantId)
    const ofAll = await tokensSince(queries, fromMs)
    if (ofTenant + more <= budget.tenantTokensPerDay && ofAll + more <= budget.tokensPerDay) return
    const retryAfter = Math.ceil((fromMs + DAY_MS - nowMs) / SECOND_MS)
    throw new Refusal('ai_budget_spent', { retry_after: retryAfter })
  }

  async function checkRate({ queries, nowMs }: Change, tenantId: string) {
    const begun = await analysesSince(queries, tenantId, nowMs - HOUR_MS)
    const freed = begun[begun.length - LIMITS.analysesPerHourMax]
    if (freed === undefined) return
    // a clock that was set back must not make anybody wait for longer than the hour
    const waitMs = Math.min(HOUR_MS, freed + HOUR_MS - nowMs)
    throw new Refusal('rate_limited', { retry_after: Math.max(1, Math.ceil(waitMs / SECOND_MS)) })
  }

  return {
    /** Nothing is written before the first tokens are held. */
    meter(tenantId: string, budget: Budget): AnalysisMeter {
      const analysisId = randomUUID()
      let counted = 0
      let held = 0
      let isBegun = false
      const spent = () => counted + held
      return {
        spent,
        isBegun: () => isBegun,
        async hold(tokens) {
          counted = spent() // what was held and never counted stays spent
          held = 0
          await store.change(async (change) => {
            if (!isBegun) await checkRate(change, tenantId)
            await checkTokens(change, tenantId, budget, tokens)
            const row = { tokens: counted + tokens }
            if (isBegun) return updateAnalysis(change.queries, analysisId, row)
            const begun = { analysisId, tenantId, startedAt: change.nowMs, ...row }
            return insertAnalysis(change.queries, { ...begun, outcome: 'running' })
          })
          isBegun = true
          held = tokens
        },
        count(tokens) {
          counted += tokens
          held = 0
        },
        async finish({ queries }, outcome) {
          if (isBegun) await updateAnalysis(queries, analysisId, { tokens: spent(), outcome })
        },
      }
    },

    /** For the operator's figures: since midnight, UTC. */
    async today() {
      const fromMs = dayStartMs(clock.nowMs())
      return {
        tokens: await tokensSince(store.read, fromMs),
        outcomes: await outcomesSince(store.read, fromMs),
      }
    },

    prune: pruneWith(store, deleteAnalysesBefore, LIMITS.analysisKeptMs),
  }
}
