/**
 * A database that was restored, or a replica that took over before it had everything, has lost
 * revocations that gateways still hold. So after each change of the epoch they are handed up, a
 * message at a time, until the control plane has taken all of them.
 */
import { LIMITS } from '../../shared/limits.ts'
import { partsOfRevoked } from '../../shared/fleet/revoked-parts.ts'
import type { Revoked, UpMessage } from '../../shared/fleet/snapshot.ts'

type Held = UpMessage & { type: 'held' }

interface HeldRevocationsOptions {
  readonly all: () => Iterable<readonly [tenantId: string, revoked: Revoked]>
  readonly send: (message: UpMessage) => void
  /** The database of this epoch has all of them. */
  readonly onHanded: (epoch: string) => void
}

/** Message by message, to the control plane of an epoch. */
interface Handing {
  readonly epoch: string
  readonly messages: Iterator<Held, void>
  awaited: number
}

export class HeldRevocations {
  readonly #options: HeldRevocationsOptions
  /** Whose database has all that is held here; '' before there was any. */
  #epoch = ''
  #handing: Handing | null = null

  constructor(options: HeldRevocationsOptions) {
    this.#options = options
  }

  /** Whose database has all that is held here. */
  get epoch(): string {
    return this.#epoch
  }

  /** As it was when this gateway last ran. */
  restore(epoch: string): void {
    this.#epoch = epoch
  }

  /** What was on its way over the link before is lost. */
  onWelcome(): void {
    this.#handing = null
  }

  onSynced(epoch: string): void {
    if (this.#epoch === '') this.#epoch = epoch
    if (this.#epoch === epoch || this.#handing !== null) return
    this.#handing = { epoch, messages: messagesOf(this.#options.all()), awaited: 0 }
    this.#goOn(this.#handing)
  }

  onReceived(batch: number): void {
    if (this.#handing !== null && batch === this.#handing.awaited) this.#goOn(this.#handing)
  }

  #goOn(handing: Handing): void {
    const next = handing.messages.next()
    if (next.done === true) {
      this.#epoch = handing.epoch
      this.#handing = null
      return this.#options.onHanded(handing.epoch)
    }
    handing.awaited = next.value.batch
    this.#options.send(next.value)
  }
}

function* messagesOf(all: ReturnType<HeldRevocationsOptions['all']>): Generator<Held, void> {
  let tenants: Held['tenants'] = []
  let entries = 0
  let batch = 0
  const message = (): Held => ({ type: 'held', batch: ++batch, tenants })
  for (const [tenant_id, whole] of all)
    for (const revoked of partsOfRevoked(whole)) {
      const { subjects, sids, claims = {} } = revoked
      const more = [subjects, sids, claims].flatMap(Object.keys).length
      const isFull =
        tenants.length === LIMITS.heldTenantsSentMax ||
        entries + more > LIMITS.revokedEntriesPerMessageMax
      if (isFull && tenants.length > 0) {
        yield message()
        tenants = []
        entries = 0
      }
      tenants.push({ tenant_id, revoked })
      entries += more
    }
  if (tenants.length > 0) yield message()
}
