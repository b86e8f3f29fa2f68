/** What one change revokes, of each tenant: entry by entry, since a change may end thousands. */
import type { Revoked } from '../../shared/snapshot.ts'

interface Gathered {
  all: number
  readonly subjects: Map<string, number>
  readonly sids: Map<string, number>
}

export class GatheredRevocations {
  readonly #byTenant = new Map<string, Gathered>()

  add(tenantId: string, { all, subjects, sids }: Revoked): void {
    const known = this.#byTenant.get(tenantId)
    const gathered = known ?? { all: 0, subjects: new Map(), sids: new Map() }
    if (known === undefined) this.#byTenant.set(tenantId, gathered)
    gathered.all = Math.max(gathered.all, all)
    raise(gathered.subjects, subjects)
    raise(gathered.sids, sids)
  }

  whole(): ReadonlyMap<string, Revoked> {
    return new Map(
      [...this.#byTenant].map(([tenantId, { all, subjects, sids }]) => [
        tenantId,
        { all, subjects: Object.fromEntries(subjects), sids: Object.fromEntries(sids) },
      ]),
    )
  }
}

/** The later not-before wins, as wherever revocations meet. */
function raise(entries: Map<string, number>, given: Readonly<Record<string, number>>): void {
  for (const [key, notBefore] of Object.entries(given))
    entries.set(key, Math.max(notBefore, entries.get(key) ?? 0))
}
