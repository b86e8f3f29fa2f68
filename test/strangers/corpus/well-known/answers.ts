/** What a person read in a repository: any of these answers is right, as people would say it. */
import type { FrameworkName } from '../../../../control-plane/downloads/analyzer/detection/application.ts'

interface Answer {
  /** null: it serves with something that nothing is edited for. */
  readonly framework: FrameworkName | null
  readonly mounts: readonly (string | null)[]
  /** '' of Next.js, which runs no file of the project first. */
  readonly entries: readonly string[]
  /** The code's own, and what its image sets. */
  readonly ports: readonly (number | null)[]
  readonly health: readonly (string | null)[]
}

export interface WellKnown {
  /** On GitHub, and the commit that was read. */
  readonly name: string
  readonly commit: string
  /** More than one: it is made of several applications, which people put behind a sign-in. */
  readonly answers: readonly Answer[]
}

export function answer(
  framework: FrameworkName | null,
  mounts: readonly (string | null)[],
  entries: readonly string[],
  ports: readonly (number | null)[],
  health: readonly (string | null)[],
): Answer {
  return { framework, mounts, entries, ports, health }
}

export const NOTHING = answer(null, [null], [''], [null], [null])
