/** What one client may have of what all clients share. */
import { LIMITS } from '../../shared/limits.ts'

/** Half of what the others leave: then the next one finds the other half. */
export function shareOf(leftByOthers: number, sharePerClientMax: number): number {
  const half = Math.floor(leftByOthers / 2)
  return Math.min(sharePerClientMax, Math.max(LIMITS.upstreamShareMin, half))
}

/** Of connections, those that this client uses, and all others that are in use. */
export class SharedUse {
  held = 0
  others = 0
  readonly #client: string

  constructor(client: string) {
    this.#client = client
  }

  /** Undefined: nobody's. */
  count(client: string | undefined): void {
    if (client === this.#client) this.held++
    else if (client !== undefined) this.others++
  }

  hasRoom(connectionsMax: number): boolean {
    return this.held < shareOf(connectionsMax - this.others, connectionsMax / 2)
  }
}

/** The same for whoever asks about many clients at one moment: what is in use is counted once for all. */
export class SharedUses {
  readonly #heldBy = new Map<string, number>()
  #all = 0

  count(client: string | undefined): void {
    if (client === undefined) return
    this.#all++
    this.#heldBy.set(client, this.heldBy(client) + 1)
  }

  heldBy(client: string): number {
    return this.#heldBy.get(client) ?? 0
  }

  hasRoom(client: string, connectionsMax: number): boolean {
    const held = this.heldBy(client)
    return held < shareOf(connectionsMax - (this.#all - held), connectionsMax / 2)
  }
}
