/**
 * Who waits, in rotation: groups take turns (tenants, or sites), in each of them its members do (the
 * networks of a site), and each of those is first come, first served. So whoever has many networks
 * waits behind itself, and a neighbour in the same site behind one of each.
 */
export class Rotation<Item> {
  readonly #groups = new Map<string, Map<string, Item[]>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  countOf(group: string): number {
    return countIn(this.#groups.get(group))
  }

  countWithin(group: string, member: string): number {
    return this.#groups.get(group)?.get(member)?.length ?? 0
  }

  push(group: string, member: string, item: Item): void {
    const members = this.#groups.get(group) ?? new Map<string, Item[]>()
    this.#groups.set(group, members)
    const own = members.get(member)
    if (own === undefined) members.set(member, [item])
    else own.push(item)
    this.#size++
  }

  /** Who was served goes behind all others, and so does its group. */
  shift(): Item | undefined {
    const [first] = this.#groups
    if (first === undefined) return undefined
    const [group, members] = first
    const [[member, items] = ['', []]] = members
    const item = items.shift()
    members.delete(member)
    if (items.length > 0) members.set(member, items)
    this.#groups.delete(group)
    if (members.size > 0) this.#groups.set(group, members)
    this.#size--
    return item
  }

  /**
   * Takes out the last of whoever has the most, where that makes things more even: two that have as
   * many do not push each other out. Of all groups, or only of the members of the newcomer's own.
   */
  makeRoom(group: string, member: string, isOfGroup: boolean): Item | undefined {
    const longest = isOfGroup ? group : longestOf(this.#groups, countIn)
    if (this.countOf(longest) > this.countOf(group) + 1) return this.#pop(longest)
    const members = this.#groups.get(group)
    if (members === undefined) return undefined
    const mostWithin = members.get(longestOf(members, (items) => items.length))?.length ?? 0
    return mostWithin > this.countWithin(group, member) + 1 ? this.#pop(group) : undefined
  }

  #pop(group: string): Item | undefined {
    const members = this.#groups.get(group) ?? new Map<string, Item[]>()
    // of as many the last: the others have waited for longer
    const member = longestOf(new Map([...members].reverse()), (items) => items.length)
    const items = members.get(member) ?? []
    const item = items.pop()
    if (items.length === 0) members.delete(member)
    if (members.size === 0) this.#groups.delete(group)
    this.#size--
    return item
  }
}

function countIn(members: ReadonlyMap<string, readonly unknown[]> = new Map()): number {
  let count = 0
  for (const items of members.values()) count += items.length
  return count
}

function longestOf<Value>(all: ReadonlyMap<string, Value>, sizeOf: (value: Value) => number) {
  let longest = ''
  let most = 0
  for (const [key, value] of all) {
    if (sizeOf(value) <= most) continue
    longest = key
    most = sizeOf(value)
  }
  return longest
}
