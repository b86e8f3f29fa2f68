/**
 * Which bit of a token stands for which group, or attribute with its value. Pure. Only what rules speak of
 * has one. Two * things keep a token from being read by another table than its own: a slot has the version that it
 * was given in, and is given to another only when no session from before can live any more.
 */
import type { StoredSlot } from '../store/access-tables.ts'

interface SlotTable {
  readonly slots: readonly StoredSlot[]
  readonly version: number
}

/** undefined: there are more than bits. */
export function nextSlots(
  { slots, version }: SlotTable,
  wanted: ReadonlySet<string>,
  { nowMs, keptMs, slotsMax }: { nowMs: number; keptMs: number; slotsMax: number },
): SlotTable | undefined {
  const next = version + 1
  const kept = slots.map((one): StoredSlot => {
    if (!wanted.has(one.group)) return { ...one, freeFrom: one.freeFrom ?? nowMs + keptMs }
    // meanwhile tokens were made without it
    return one.freeFrom === null ? one : { ...one, since: next, freeFrom: null }
  })
  const known = new Set(kept.map(({ group }) => group))
  const isTaken = (one: StoredSlot) => one.freeFrom === null || one.freeFrom > nowMs
  const table = new Map(kept.filter(isTaken).map((one) => [one.slot, one]))
  let at = 0
  for (const group of wanted) {
    if (known.has(group)) continue
    while (table.has(at)) at++
    if (at >= slotsMax) return undefined
    table.set(at, { slot: at, since: next, group, freeFrom: null })
  }
  const all = [...table.values()].sort((a, b) => a.slot - b.slot)
  return { slots: all, version: all.some(({ since }) => since === next) ? next : version }
}

/** What a token says of its person. Whole bytes up to the last slot: what is behind is unknown. */
export function groupBits(slots: readonly StoredSlot[], held: ReadonlySet<string>): string {
  const last = slots.reduce((most, { slot }) => Math.max(most, slot), -1)
  const bits = new Uint8Array((last >> 3) + 1)
  for (const { slot, group, freeFrom } of slots)
    if (freeFrom === null && held.has(group)) bits[slot >> 3]! |= 1 << (slot & 7)
  return Buffer.from(bits).toString('base64url')
}
