/** What one change revokes, of each tenant: entry by entry, since a change may end thousands. */
import { claimsOf, sessionSecondsOf, type Revoked } from '../../shared/fleet/snapshot.ts'

interface Gathered {
  all: number
  readonly subjects: Map<string, number>
  readonly sids: Map<string, number>
  readonly claims: Map<string, number>
  sessionSeconds: number
}

export class GatheredRevocations {
  readonly #byTenant = new Map<string, Gathered>()

  add(tenantId: string, { all, subjects, sids, claims = {}, session_seconds = 0 }: Revoked): void {
    const known = this.#byTenant.get(tenantId)
    const gathered = known ?? {
      all: 0,
      subjects: new Map(),
      sids: new Map(),
      claims: new Map(),
      sessionSeconds: 0,
    }
    if (known === undefined) this.#byTenant.set(tenantId, gathered)
    gathered.all = Math.max(gathered.all, all)
    gathered.sessionSeconds = Math.max(gathered.sessionSeconds, session_seconds)
    raise(gathered.subjects, subjects)
    raise(gathered.sids, sids)
    raise(gathered.claims, claims)
  }

  get isEmpty(): boolean {
    return this.#byTenant.size === 0
  }

  whole(): ReadonlyMap<string, Revoked> {
    return new Map(
      [...this.#byTenant].map(([tenantId, { all, subjects, sids, claims, sessionSeconds }]) => [
        tenantId,
        {
          all,
          subjects: Object.fromEntries(subjects),
          sids: Object.fromEntries(sids),
          ...claimsOf(Object.fromEntries(claims)),
          ...sessionSecondsOf(sessionSeconds),
        },
      ]),
    )
  }
}

/** The later not-before wins, as wherever revocations meet. */
function raise(entries: Map<string, number>, given: Readonly<Record<string, number>>): void {
  for (const [key, notBefore] of Object.entries(given))
    entries.set(key, Math.max(notBefore, entries.get(key) ?? 0))
}
