/** The part of the schema that analysis stands on: guides, and what asking for them has cost. */
import { table, text, whole, json, uniqueIndex } from './columns.ts'

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

/** The newest counts; a few before it are kept to be looked at. */
export const guides = table(
  'guides',
  {
    guideId: text('guide_id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    /** Goes up with every guide of the tenant, whatever the clock says. */
    number: whole('number').notNull(),
    createdAt: whole('created_at').notNull(),
    framework: text('framework').notNull(),
    model: text('model').notNull(),
    content: json('content').$type<StoredGuide>().notNull(),
  },
  (table) => [uniqueIndex('guides_tenant').on(table.tenantId, table.number)],
)

/**
 * Every analysis that went as far as a provider, written before the provider is asked: what a
 * program did not live to count is counted as it was reserved.
 */
export const analyses = table('analyses', {
  analysisId: text('analysis_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  startedAt: whole('started_at').notNull(),
  outcome: text('outcome').$type<AnalysisOutcome>().notNull(),
  /** Reserved while it runs, then what the provider has counted. */
  tokens: whole('tokens').notNull(),
})
