/** One application out of what was found of it, piece by piece. */
import type { Application, Confidence, Finding, FrameworkName, Place } from './application.ts'

export interface Clue<T> {
  readonly value: T
  readonly at: Place | null
  readonly confidence: Confidence
  readonly detail: string
}

export interface Pieces {
  readonly folder: string
  readonly framework: Clue<FrameworkName>
  readonly variant: string | null
  readonly language: Clue<string>
  readonly packageManager: Clue<string> | null
  /** The value says what stands there. */
  readonly entry: (Clue<string> & { readonly at: Place }) | null
  readonly mount: (Clue<string> & { readonly at: Place }) | null
  readonly health: Clue<string> | null
  readonly port: Clue<number> | null
  readonly signIn: readonly Clue<string>[]
  readonly integrated: Place | null
  /** Where it stands in a project of several. */
  readonly workspace?: Clue<string> | null
}

const ORDER: readonly Confidence[] = ['guess', 'likely', 'sure']

/** As sure as the least sure of them. */
export function weakest(...confidences: readonly Confidence[]): Confidence {
  return ORDER[Math.min(...confidences.map((one) => ORDER.indexOf(one)))] ?? 'guess'
}

function onePerValue(clues: readonly Clue<string>[]): Clue<string>[] {
  return clues.filter(
    (clue, index) => clues.findIndex(({ value }) => value === clue.value) === index,
  )
}

export function assemble(pieces: Pieces): Application {
  const { framework, language, packageManager, entry, mount, health, port, signIn } = pieces
  const clues: readonly (readonly [Finding['about'], Clue<string | number> | null | undefined])[] =
    [
      ['framework', framework],
      ['language', language],
      ['package_manager', packageManager],
      ['entry', entry],
      ['mount', mount],
      ['health', health],
      ['port', port],
      ['workspace', pieces.workspace],
      ...onePerValue(signIn).map((clue) => ['sign_in', clue] as const),
    ]
  return {
    folder: pieces.folder,
    framework: framework.value,
    variant: pieces.variant,
    language: language.value,
    packageManager: packageManager?.value ?? null,
    modules: null,
    entry: entry?.at ?? null,
    mount: mount?.at ?? null,
    healthPath: health?.value ?? null,
    port: port?.value ?? null,
    signIn: [...new Set(signIn.map(({ value }) => value))].sort(),
    integrated: pieces.integrated,
    // without the place to mount it, a person has to look
    confidence: weakest(
      framework.confidence,
      entry?.confidence ?? 'guess',
      mount?.confidence ?? 'guess',
    ),
    findings: clues.flatMap(([about, clue]) => {
      if (!clue) return []
      const { value, at, confidence, detail } = clue
      return [{ about, value: String(value), at, confidence, detail }]
    }),
  }
}
