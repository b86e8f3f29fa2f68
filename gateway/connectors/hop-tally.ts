/**
 * How many requests each connection to another gateway's connectors has answered, as that gateway is
 * told: it passes bytes on and sees none (.docs/decisions/0091-requests-over-a-hop-are-told-by-who-sent-them.md).
 */
import { HOPS_TOLD_MAX, type HopGuestWord } from '../../shared/connector/messages.ts'
import type { InUse } from '../wire/upstream-call.ts'

interface Counted {
  readonly inUse: InUse | undefined
  /** Requests, as was told there. Whoever opens one for us counts one. */
  told: number
}

interface TallyWorld {
  readonly open: ReadonlyMap<number, Counted>
  readonly nowMs: () => number
  readonly say: (word: HopGuestWord) => void
}

/** Told with each ping, and when some of them end: so often, which is within `hopWords`. */
const TELL_MS = 200

export class HopTally {
  readonly #world: TallyWorld
  /** Ended, with requests that are not told yet. */
  #ended: [hop: number, requests: number][] = []
  #timer: NodeJS.Timeout | undefined
  #toldMs = -Infinity

  constructor(world: TallyWorld) {
    this.#world = world
  }

  tell(): void {
    this.close()
    const { open, nowMs, say } = this.#world
    this.#toldMs = nowMs()
    const hops = this.#ended.splice(0)
    for (const [number, hop] of open) {
      const requests = hop.inUse?.served ?? 0
      if (requests <= hop.told) continue
      hop.told = requests
      hops.push([number, requests])
    }
    for (let at = 0; at < hops.length; at += HOPS_TOLD_MAX)
      say({ say: 'served', hops: hops.slice(at, at + HOPS_TOLD_MAX) })
  }

  /** What comes in one turn goes in one word; a connector that leaves is there for a moment only. */
  tellSoon(): void {
    const waitMs = Math.max(0, this.#toldMs + TELL_MS - this.#world.nowMs())
    this.#timer ??= setTimeout(() => this.tell(), waitMs).unref()
  }

  /** It is open no more. */
  ended(number: number, { inUse, told }: Counted): void {
    if (inUse === undefined || inUse.served <= told) return
    this.#ended.push([number, inUse.served])
    this.tellSoon()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
