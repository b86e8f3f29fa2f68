/**
 * What a gateway has acknowledged is a number of ours; other control planes ask by the position of
 * their common log. Here is which of the numbers had been given when which position was read.
 */

/** A gateway that is further behind has said nothing for far too long, and is waited for in vain. */
const KEPT_MAX = 1000

export function createHeardPositions() {
  const heard: { sequence: number; position: number }[] = []

  return {
    /** All that was revoked up to this position has gone to every gateway, by this number. */
    add(position: number, sequence: number) {
      const last = heard.at(-1)
      if (last?.sequence === sequence) last.position = position
      else heard.push({ sequence, position })
      if (heard.length > KEPT_MAX) heard.shift()
    },
    /** For the gateway that has enforced whatever `has` says. */
    of: (has: (sequence: number) => boolean): number =>
      heard.findLast(({ sequence }) => has(sequence))?.position ?? -1,
    /** Another log begins. */
    clear: () => void heard.splice(0),
  }
}
