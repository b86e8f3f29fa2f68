/** Forms of the console: which have been sent, and what was typed into those that wait. */
import { desc, eq, inArray, lt } from '../drizzle.ts'
import { schema } from '../schema.ts'
import { deleteSome } from '../delete-some.ts'
import type { Queries } from '../sqlite.ts'

const { consoleForms: forms, consoleKeptForms: kept } = schema

/** undefined: it was not known, and is now. */
export async function claimForm(
  queries: Queries,
  {
    formHash,
    contentHash,
    createdAt,
  }: { formHash: string; contentHash: string; createdAt: number },
): Promise<{ readonly location: string | null; readonly isSame: boolean } | undefined> {
  const [known] = await queries
    .select({ location: forms.location, contentHash: forms.contentHash })
    .from(forms)
    .where(eq(forms.formHash, formHash))
  if (known !== undefined) {
    const { location, contentHash: before } = known
    return { location, isSame: before === null || before === contentHash }
  }
  await queries.insert(forms).values({ formHash, contentHash, createdAt, location: null })
  return undefined
}

export async function settleForm(queries: Queries, formHash: string, location: string) {
  await queries.update(forms).set({ location }).where(eq(forms.formHash, formHash))
}

export async function releaseForm(queries: Queries, formHash: string): Promise<void> {
  await queries.delete(forms).where(eq(forms.formHash, formHash))
}

export async function deleteFormsBefore(queries: Queries, beforeMs: number, limit: number) {
  return deleteSome(queries, forms.formHash, lt(forms.createdAt, beforeMs), limit)
}

export async function insertKeptForm(queries: Queries, row: typeof kept.$inferInsert) {
  await queries.insert(kept).values(row)
}

export async function findKeptForm(queries: Queries, keptHash: string) {
  const [row] = await queries.select().from(kept).where(eq(kept.keptHash, keptHash))
  return row
}

/** The newest `most` of a person stay. */
export async function deleteKeptFormsBeyond(queries: Queries, userId: string, most: number) {
  const all = await queries
    .select({ keptHash: kept.keptHash })
    .from(kept)
    .where(eq(kept.userId, userId))
    .orderBy(desc(kept.createdAt), desc(kept.keptHash))
  const hashes = all.slice(most).map(({ keptHash }) => keptHash)
  if (hashes.length > 0) await queries.delete(kept).where(inArray(kept.keptHash, hashes))
}

export async function deleteKeptFormsBefore(queries: Queries, beforeMs: number, limit: number) {
  return deleteSome(queries, kept.keptHash, lt(kept.createdAt, beforeMs), limit)
}
