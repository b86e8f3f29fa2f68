/** The part of the schema that analysis stands on: guides, and what asking for them has cost. */
import type { Columns } from './columns.ts'

/** How an analysis ended: with a guide, or with the error that was answered. */
export type AnalysisOutcome = 'running' | 'guide' | `ai_${string}` | 'unavailable'

/** What `service-analyzer apply` writes, as its schema reads it (shared/integration/guide.ts). */
interface StoredGuide {
  readonly summary: string
  readonly edits: readonly unknown[]
  readonly commands: readonly string[]
  readonly notes: readonly string[]
  readonly warnings: readonly string[]
}

export function defineAnalysisTables(c: Columns) {
  /** The newest counts; a few before it are kept to be looked at. */
  const guides = c.table(
    'guides',
    {
      guideId: c.text('guide_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      /** Goes up with every guide of the tenant, whatever the clock says. */
      number: c.whole('number').notNull(),
      createdAt: c.whole('created_at').notNull(),
      framework: c.text('framework').notNull(),
      model: c.text('model').notNull(),
      content: c.json('content').$type<StoredGuide>().notNull(),
    },
    (table) => [c.uniqueIndex('guides_tenant').on(table.tenantId, table.number)],
  )

  /**
   * Every analysis that went as far as a provider, written before the provider is asked: what a
   * program did not live to count is counted as it was reserved.
   */
  const analyses = c.table(
    'analyses',
    {
      analysisId: c.text('analysis_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      startedAt: c.whole('started_at').notNull(),
      outcome: c.text('outcome').$type<AnalysisOutcome>().notNull(),
      /** Reserved while it runs, then what the provider has counted. */
      tokens: c.whole('tokens').notNull(),
    },
    (table) => [
      c.index('analyses_tenant').on(table.tenantId, table.startedAt),
      c.index('analyses_started').on(table.startedAt),
    ],
  )

  return { guides, analyses }
}
