/**
 * How both ends of the fleet link find out that they hold the same state: a hash per snapshot and
 * one over all of them, which a change of one tenant updates at the cost of one tenant.
 */
import { hash } from 'node:crypto'

/** The same text for the same content, in whatever order its keys were written. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members: string[] = []
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key]
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`)
  }
  return `{${members.join(',')}}`
}

/** Over `canonicalJson` of the snapshot. */
export function snapshotHash(canonicalText: string): string {
  return hash('sha256', canonicalText, 'base64url')
}

/**
 * A hash over a set of (tenant, hash) pairs: the exclusive or of each pair's SHA-256. It finds
 * drift between two ends that trust each other; it is no defence against a forger.
 */
export class StateDigest {
  readonly #hashes = new Map<string, string>()
  readonly #sum = Buffer.alloc(32)
  #isSummed = true

  /** The same as `set`, for very many: what it costs is spent when somebody asks for the sum. */
  fill(tenantId: string, hashOfIt: string): void {
    this.#hashes.set(tenantId, hashOfIt)
    this.#isSummed = false
  }

  has(tenantId: string): boolean {
    return this.#hashes.has(tenantId)
  }

  /** What `hex` has been for the very same pairs. */
  know(hex: string): void {
    this.#sum.write(hex, 'hex')
    this.#isSummed = true
  }

  set(tenantId: string, hashOfIt: string): void {
    const before = this.#hashes.get(tenantId)
    if (before === hashOfIt) return
    if (before !== undefined) this.#toggle(tenantId, before)
    this.#hashes.set(tenantId, hashOfIt)
    this.#toggle(tenantId, hashOfIt)
  }

  delete(tenantId: string): void {
    const before = this.#hashes.get(tenantId)
    if (before === undefined) return
    this.#hashes.delete(tenantId)
    this.#toggle(tenantId, before)
  }

  tenantIds(): IterableIterator<string> {
    return this.#hashes.keys()
  }

  hex(): string {
    if (!this.#isSummed) {
      this.#isSummed = true
      this.#sum.fill(0)
      for (const [tenantId, hashOfIt] of this.#hashes) this.#toggle(tenantId, hashOfIt)
    }
    return this.#sum.toString('hex')
  }

  #toggle(tenantId: string, hashOfIt: string): void {
    if (!this.#isSummed) return
    const pair = hash('sha256', `${tenantId}\n${hashOfIt}`, 'buffer')
    for (let at = 0; at < pair.length; at += 4)
      this.#sum.writeInt32LE(this.#sum.readInt32LE(at) ^ pair.readInt32LE(at), at)
  }
}
