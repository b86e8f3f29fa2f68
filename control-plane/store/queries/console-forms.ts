/** Forms of the console: which have been sent, and what was typed into those that wait. */
import { desc, eq, inArray } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, deleteBy, findBy, insertInto, upsertInto } from '../statements.ts'

const { consoleForms: forms, consoleKeptForms: kept } = schema

const findForm = findBy(forms, 'formHash')

/** undefined: it was not known, and is now. */
export async function claimForm(
  queries: Queries,
  { contentHash, ...form }: Omit<typeof forms.$inferInsert, 'location'>,
): Promise<{ readonly location: string | null; readonly isSame: boolean } | undefined> {
  const known = await findForm(queries, form.formHash)
  if (known !== undefined) {
    const { location, contentHash: before } = known
    return { location, isSame: before === null || before === contentHash }
  }
  await queries.insert(forms).values({ ...form, contentHash, location: null })
  return undefined
}

export async function settleForm(queries: Queries, formHash: string, location: string) {
  await queries.update(forms).set({ location }).where(eq(forms.formHash, formHash))
}

export const releaseForm = deleteBy(forms, 'formHash')

export const deleteFormsBefore = deleteBefore(forms.createdAt)

export const insertKeptForm = insertInto(kept)
export const putKeptForm = upsertInto(kept, ['keptHash'], 'contentSealed', 'createdAt')

export const findKeptForm = findBy(kept, 'keptHash')

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

export const deleteKeptFormsBefore = deleteBefore(kept.createdAt)
