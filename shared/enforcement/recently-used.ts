/**
 * Keeps at most so many entries, and at least the half of them that was used last. Two generations
 * in place of a list in order of use: a hit, and nearly every request is one, writes nothing.
 */
export class RecentlyUsed<Value, Key = string> {
  readonly #generationMax: number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()

  constructor(entriesMax: number) {
    this.#generationMax = Math.max(1, Math.floor(entriesMax / 2))
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: Key, value: Value): void {
    if (this.#young.size >= this.#generationMax && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
    this.#old.delete(key)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }
}
