/** What is to be done to a project: whole new texts of files, judged and shown before any is written. */

/** The text that was there when the edit was made, and the text that is to be. */
export interface FileEdit {
  readonly path: string
  /** null: the file is not there. */
  readonly before: string | null
  readonly after: string
  readonly why: string
}

/** What a person has to do by hand: the snippet and the exact place. */
export interface ManualStep {
  readonly path: string
  /** Counts from 1; null: the file does not exist yet. */
  readonly line: number | null
  readonly text: string
  readonly code: string | null
}

export interface Plan {
  readonly framework: string
  readonly source: { readonly kind: 'rules' } | { readonly kind: 'guide'; readonly guideId: string }
  readonly edits: readonly FileEdit[]
  readonly manual: readonly ManualStep[]
  /** To run afterwards, in this order. */
  readonly commands: readonly string[]
  readonly notes: readonly string[]
}

/** What one cause adds to a plan. */
export type Parts = Pick<Plan, 'edits' | 'manual' | 'commands' | 'notes'>

export const NO_PARTS: Parts = { edits: [], manual: [], commands: [], notes: [] }

export function together(...all: readonly Parts[]): Parts {
  return {
    edits: all.flatMap(({ edits }) => edits),
    manual: all.flatMap(({ manual }) => manual),
    commands: all.flatMap(({ commands }) => commands),
    notes: all.flatMap(({ notes }) => notes),
  }
}

export function shown(path: string, line: number | null, text: string, code: string | null): Parts {
  return { ...NO_PARTS, manual: [{ path, line, text, code }] }
}
