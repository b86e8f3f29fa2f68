/** What waits for its turn: in order for each client, and the clients in rotation. */
export class FairQueue<Item extends { readonly client: string }> {
  size = 0
  /** In the order of their turns. */
  readonly #byClient = new Map<string, Item[]>()

  countOf(client: string): number {
    return this.#byClient.get(client)?.length ?? 0
  }

  add(item: Item): void {
    const items = this.#byClient.get(item.client)
    if (items === undefined) this.#byClient.set(item.client, [item])
    else items.push(item)
    this.size++
  }

  delete(item: Item): void {
    const items = this.#byClient.get(item.client)
    const index = items?.indexOf(item) ?? -1
    if (index === -1) return
    items!.splice(index, 1)
    if (items!.length === 0) this.#byClient.delete(item.client)
    this.size--
  }

  /** The first item of the next client that may have one; that client's next turn is the last. */
  next(mayHave?: (item: Item) => boolean): Item | undefined {
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
    return most.at(-1)
  }

  /** Of all clients that may have their next one. */
  countOfThose(mayHave: (item: Item) => boolean): number {
    let count = 0
    for (const items of this.#byClient.values()) if (mayHave(items[0]!)) count += items.length
    return count
  }

  takeAll(): Item[] {
    const all = [...this.#byClient.values()].flat()
    this.#byClient.clear()
    this.size = 0
    return all
  }
}
