/**
 * What somebody has typed into a form that could not be taken, because their session was over or
 * they had to prove again who they are: kept sealed for an hour, for them alone, without secrets.
 */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { randomBytes } from 'node:crypto'
import { LIMITS } from '../../shared/limits.ts'
import {
  deleteKeptFormsBefore,
  deleteKeptFormsBeyond,
  findKeptForm,
  insertKeptForm,
  putKeptForm,
} from '../store/queries/console-forms.ts'
import type { ConsoleAccessWorld } from './world.ts'

export interface KeptForm {
  /** Of the action in the table of routes, with what stood for its parameters. */
  readonly path: string
  readonly parameters: Readonly<Record<string, string>>
  readonly values: readonly (readonly [string, string])[]
  readonly choices: readonly (readonly [string, readonly string[]])[]
  readonly why: 'session_over' | 'fresh_sign_in'
}

const ID = /^[A-Za-z0-9_-]{32}$/

export function createKeptForms({ store, vault, clock }: ConsoleAccessWorld) {
  return {
    /** Where it is found again. The oldest of many are forgotten. */
    async keep(userId: string, form: KeptForm): Promise<string> {
      const id = randomBytes(24).toString('base64url')
      const keptHash = vault.hash(id)
      const contentSealed = vault.seal(
        JSON.stringify(form),
        PURPOSES.keptForm({ userId, keptHash }),
      )
      await store.change(async ({ queries, nowMs }) => {
        await insertKeptForm(queries, { keptHash, userId, contentSealed, createdAt: nowMs })
        await deleteKeptFormsBeyond(queries, userId, LIMITS.consoleKeptFormsPerPersonMax)
      })
      return id
    },

    async open(userId: string, id: string): Promise<KeptForm | undefined> {
      if (!ID.test(id)) return undefined
      const row = await findKeptForm(store.read, vault.hash(id))
      if (row?.userId !== userId) return undefined
      if (row.createdAt + LIMITS.consoleKeptFormMs <= clock.nowMs()) return undefined
      return JSON.parse(
        vault.open(row.contentSealed, PURPOSES.keptForm({ userId, keptHash: row.keptHash })),
      ) as KeptForm
    },

    /** What a person looks at before it is saved, of each kind the newest. */
    async keepDraft(userId: string, kind: string, draft: unknown): Promise<void> {
      const keptHash = vault.hash(`draft/${userId}/${kind}`)
      const contentSealed = vault.seal(
        JSON.stringify(draft),
        PURPOSES.keptForm({ userId, keptHash }),
      )
      await store.change(({ queries, nowMs: createdAt }) =>
        putKeptForm(queries, { keptHash, userId, contentSealed, createdAt }),
      )
    },

    async draft(userId: string, kind: string): Promise<unknown> {
      const row = await findKeptForm(store.read, vault.hash(`draft/${userId}/${kind}`))
      if (row === undefined || row.createdAt + LIMITS.consoleKeptFormMs <= clock.nowMs()) return
      return JSON.parse(
        vault.open(row.contentSealed, PURPOSES.keptForm({ userId, keptHash: row.keptHash })),
      )
    },

    prune: (limit: number): Promise<number> =>
      store.change(({ queries, nowMs }) =>
        deleteKeptFormsBefore(queries, nowMs - LIMITS.consoleKeptFormMs, limit),
      ),
  }
}
