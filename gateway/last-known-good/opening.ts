/**
 * What a state of a tenant lets people do, told in a few bytes that outlive it: an older generation may be
 * all that can be read, and what has been taken back since must not come back with it.
 */
import { canonicalJson, snapshotHash } from '../../shared/fleet/digest.ts'
import type { TenantSnapshot } from '../../shared/fleet/snapshot.ts'

export interface Opening {
  /** Of the keys that tokens are signed with. */
  readonly keys: readonly string[]
  readonly excluded: string
  /** Rules, sealed paths, where requests go, secrets, how long sessions last, who may dial in. */
  readonly rest: string
}

/** Says nothing of what may be done, or is told by the guard itself, or is left out where it is old. */
const OF_NO_ACCOUNT = new Set<keyof TenantSnapshot>([
  'revision',
  'name',
  'licence',
  'health',
  'certificates',
  'acme',
  'access_contact',
  'status',
  'protection',
  'edge_urls',
  'services',
])

export function openingOf({ keys, excluded, ...others }: TenantSnapshot): Opening {
  const rest = Object.entries(others).filter(
    ([name]) => !OF_NO_ACCOUNT.has(name as keyof TenantSnapshot),
  )
  return {
    keys: keys.map(({ kid }) => kid),
    excluded: snapshotHash(canonicalJson(excluded)),
    rest: snapshotHash(canonicalJson(Object.fromEntries(rest))),
  }
}

/** Of an older one what is let stand by what the lost one was; undefined: who may do what is not known. */
export function leftOf(
  older: TenantSnapshot,
  lost: Opening | undefined,
): TenantSnapshot | undefined {
  const { excluded, rest } = openingOf(older)
  if (lost === undefined || lost.rest !== rest) return undefined
  return {
    ...older,
    keys: older.keys.filter(({ kid }) => lost.keys.includes(kid)),
    excluded: lost.excluded === excluded ? older.excluded : [],
    // Which of its secrets have been revoked since nobody can say: none is good until somebody does.
    services: undefined,
  }
}
