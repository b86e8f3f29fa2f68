/**
 * A key that is replaced while the program runs: it opens, and so does the one before for as long as
 * that is still set. Each has a number, so that whoever came in with one can be found when it opens
 * nothing any more (.docs/decisions/0088-keys-that-are-replaced.md).
 */
import { isSameSecret } from './vault.ts'

interface Held {
  readonly number: number
  readonly text: string
}

export type LiveKey = ReturnType<typeof createLiveKey>

export function createLiveKey(first: string, before: string | null = null) {
  let numbers = 0
  let held: Held[] = []
  let previousUses = 0
  const listeners: (() => void)[] = []

  /** Who has it already keeps its number. */
  function hold(current: string, previous: string | null) {
    const texts = previous === null || previous === current ? [current] : [current, previous]
    held = texts.map((text) => held.find((one) => one.text === text) ?? { number: ++numbers, text })
  }
  hold(first, before)

  /** Compared with all of them, whichever it is. */
  const among = (given: string) => held.filter(({ text }) => isSameSecret(given, text))[0]

  return {
    opens: (given: string) => among(given) !== undefined,
    /** Which of them it is, for whoever comes in with it; undefined: none. */
    find(given: string): number | undefined {
      const found = among(given)
      if (found !== undefined && found !== held[0]) previousUses += 1
      return found?.number
    },
    /** Whether the key of this number still opens. */
    isLive: (number: number) => held.some((one) => one.number === number),
    current: () => held[0]!.text,
    /** The key of now first. */
    all: () => held.map(({ text }) => text),
    hasPrevious: () => held.length > 1,
    /** How often the one before was used since the start. */
    previousUses: () => previousUses,
    /** Answers whether that changed anything; who listens has been told then. */
    replace(current: string, previous: string | null): boolean {
      const were = held
      hold(current, previous)
      const isSame = were.length === held.length && were.every((one, at) => one === held[at])
      if (!isSame) for (const listener of listeners) listener()
      return !isSame
    },
    onReplaced: (listener: () => void) => void listeners.push(listener),
  }
}
