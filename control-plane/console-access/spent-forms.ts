/** A form that is sent twice (a double click, a reload, a replay) is carried out once. */
import { LIMITS } from '../../shared/limits.ts'
import {
  claimForm,
  deleteFormsBefore,
  releaseForm,
  settleForm,
} from '../store/queries/console-forms.ts'
import type { ConsoleAccessWorld } from './world.ts'

export function createSpentForms({ store, vault }: ConsoleAccessWorld) {
  return {
    /**
     * Before it is carried out. undefined: go on; else where its answer is, if there is one yet, and
     * whether it was the same that was sent.
     */
    claim: (formId: string, content: string) =>
      store.change(({ queries, nowMs: createdAt }) => {
        const contentHash = vault.hash(`console.form/${formId}/${content}`)
        return claimForm(queries, { formHash: vault.hash(formId), contentHash, createdAt })
      }),
    settle: (formId: string, location: string) =>
      store.change(({ queries }) => settleForm(queries, vault.hash(formId), location)),
    /** It was refused, so nothing has been done: it may come again. */
    release: (formId: string) =>
      store.change(({ queries }) => releaseForm(queries, vault.hash(formId))),
    prune: (limit: number): Promise<number> =>
      store.change(({ queries, nowMs }) =>
        deleteFormsBefore(queries, nowMs - LIMITS.consoleFormKeptMs, limit),
      ),
  }
}
