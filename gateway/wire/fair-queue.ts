/** What waits for its turn: in order for each client, and the clients in rotation. */
export class FairQueue<Item extends { readonly client: string }> {
  size = 0
  /** In the order of their turns. */
  readonly #byClient = new Map<string, Item[]>()
  /** They have had their turn, in vain: before all others. */
  readonly #again: Item[] = []

  countOf(client: string): number {
    const again = this.#again.filter((item) => item.client === client).length
    return again + (this.#byClient.get(client)?.length ?? 0)
  }

  add(item: Item): void {
    const items = this.#byClient.get(item.client)
    if (items === undefined) this.#byClient.set(item.client, [item])
    else items.push(item)
    this.size++
  }

  addAgain(item: Item): void {
    this.#again.push(item)
    this.size++
  }

  delete(item: Item): void {
    if (this.#again.includes(item)) this.#takeAgain(item)
    else this.#deleteOfClient(item)
  }

  #takeAgain(item: Item): Item {
    this.#again.splice(this.#again.indexOf(item), 1)
    this.size--
    return item
  }

  #deleteOfClient(item: Item): void {
    const items = this.#byClient.get(item.client)
    const index = items?.indexOf(item) ?? -1
    if (index === -1) return
    items!.splice(index, 1)
    if (items!.length === 0) this.#byClient.delete(item.client)
    this.size--
  }

  /** The first item of the next client that may have one; that client's next turn is the last. */
  next(mayHave?: (item: Item) => boolean): Item | undefined {
    for (const item of this.#again) if (mayHave?.(item) !== false) return this.#takeAgain(item)
    for (const [client, items] of this.#byClient) {
      const item = items[0]!
      if (mayHave?.(item) === false) continue
      items.shift()
      this.#byClient.delete(client)
      if (items.length > 0) this.#byClient.set(client, items)
      this.size--
      return item
    }
    return undefined
  }

  /** Who came last of the client that has the most. */
  last(): Item | undefined {
    let most: Item[] = []
    for (const items of this.#byClient.values()) if (items.length > most.length) most = items
    return most.at(-1) ?? this.#again.at(-1)
  }

  /** Of all clients that may have their next one. */
  countOfThose(mayHave: (item: Item) => boolean): number {
    let count = this.#again.filter(mayHave).length
    for (const items of this.#byClient.values()) if (mayHave(items[0]!)) count += items.length
    return count
  }

  takeAll(): Item[] {
    const all = [...this.#again.splice(0), ...[...this.#byClient.values()].flat()]
    this.#byClient.clear()
    this.size = 0
    return all
  }
}
