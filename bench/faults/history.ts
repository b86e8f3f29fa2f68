/**
 * Judges what a fault run has seen: what was answered, what the database has kept, what gateways
 * were told and whom they let in. Pure, so that what it would find can be tested.
 */

/** `lost`: nobody answered, or the answer says nothing of whether it was done. */
export type Outcome = 'acknowledged' | 'refused' | 'lost'

export const KINDS = ['rename', 'user', 'revocation'] as const
export type Kind = (typeof KINDS)[number]

export interface Change {
  readonly kind: Kind
  /** The new name, the user's name, the session's ID: no two changes of a kind share one. */
  readonly key: string
  readonly outcome: Outcome
}

/** What one gateway was told of the tenant, in the order in which it came. */
export interface Told {
  readonly epoch: string
  readonly revision: number
  readonly name: string
}

/** A request with the cookie of a session whose revocation had been acknowledged before it began. */
export interface LetIn {
  readonly sid: string
  readonly gateway: string
}

export interface Kept {
  /** Of each kind the keys that the audit trail tells of, once per entry. */
  readonly audit: Readonly<Record<Kind, readonly string[]>>
  readonly users: readonly string[]
  /** Sessions, and those of them that `session.revoked` is in the outbox for. */
  readonly sessions: readonly string[]
  readonly revoked: readonly string[]
  readonly events: readonly string[]
  readonly name: string
  readonly revision: number
}

export interface Arrival {
  readonly id: string
  readonly sid: string
}

export interface History {
  readonly changes: readonly Change[]
  /** Sessions that people were seen to have. */
  readonly signedIn: readonly string[]
  readonly kept: Kept
  /** Before the first change. */
  readonly revisionBefore: number
  readonly told: readonly Told[]
  readonly letIn: readonly LetIn[]
  /** Sessions that nobody has tried to revoke, and a gateway has refused. */
  readonly shutOut: readonly string[]
  readonly arrivals: readonly Arrival[]
}

/** What was lost, or is there that may not be: each in a sentence. */
export function findings(history: History): string[] {
  const { kept, letIn, shutOut, signedIn } = history
  return [
    ...KINDS.flatMap((kind) => findingsOf(kind, history)),
    ...missing(signedIn, kept.sessions).map((sid) => `session ${sid} is not in the database`),
    ...revisionFindings(history),
    ...toldFindings(history),
    ...new Set(
      letIn.map(({ sid, gateway }) => `${gateway} let in session ${sid} after its revocation`),
    ),
    ...shutOut.map((sid) => `session ${sid} was refused, and nobody had revoked it`),
    ...arrivalFindings(history),
  ]
}

/** Everything that tells of a change tells of it once, or nothing does and nobody was answered. */
function findingsOf(kind: Kind, { changes, kept }: History): string[] {
  const places: Record<string, readonly string[]> = {
    rename: { audit: kept.audit.rename },
    user: { audit: kept.audit.user, users: kept.users },
    revocation: { audit: kept.audit.revocation, revocations: kept.revoked, outbox: kept.events },
  }[kind] satisfies Record<string, readonly string[]>
  const counts = Object.entries(places).map(([place, keys]) => [place, countsOf(keys)] as const)
  const mine = changes.filter((change) => change.kind === kind)
  const found = mine.flatMap(({ key, outcome }) => {
    const there = counts.map(([place, count]) => [place, count.get(key) ?? 0] as const)
    const wanted =
      outcome === 'acknowledged' ? 1 : outcome === 'refused' ? 0 : (there[0]?.[1] ?? 0) > 0 ? 1 : 0
    return there
      .filter(([, count]) => count !== wanted)
      .map(([place, count]) => `${kind} ${key} (${outcome}) is ${count} times in ${place}`)
  })
  const asked = new Set(mine.map(({ key }) => key))
  const invented = counts.flatMap(([place, count]) =>
    [...count.keys()]
      .filter((key) => !asked.has(key))
      .map((key) => `${kind} ${key} is in ${place}, and nobody asked for it`),
  )
  return [...found, ...invented]
}

/** Renames alone take one: so many as were committed, and the last of them is what is there. */
function revisionFindings({ kept, revisionBefore }: History): string[] {
  const taken = kept.revision - revisionBefore
  const renames = kept.audit.rename
  const last = renames.at(-1)
  return [
    ...(taken === renames.length
      ? []
      : [`${taken} revisions were taken for ${renames.length} changes`]),
    ...(last === undefined || last === kept.name
      ? []
      : [`the database has the name ${kept.name}, and the last change made it ${last}`]),
  ]
}

/** A gateway goes forward only, through names in the order of their commits, to the last one. */
function toldFindings({ told, kept }: History): string[] {
  const orderOf = new Map(kept.audit.rename.map((name, at) => [name, at]))
  const found: string[] = []
  for (const [at, now] of told.entries()) {
    const before = told[at - 1]
    if (before === undefined) continue
    if (now.epoch !== before.epoch)
      found.push(`another epoch began behind revision ${before.revision}, and nothing was lost`)
    if (now.revision < before.revision)
      found.push(`a gateway was told revision ${now.revision} behind ${before.revision}`)
    if (now.revision === before.revision && now.name !== before.name)
      found.push(`revision ${now.revision} was ${before.name} first, and then ${now.name}`)
    if ((orderOf.get(now.name) ?? -1) < (orderOf.get(before.name) ?? -1))
      found.push(`a gateway was told ${now.name} behind ${before.name}`)
  }
  const last = told.at(-1)
  if (last?.name !== kept.name || last.revision !== kept.revision)
    found.push(`the last that a gateway was told is ${last?.name} (${last?.revision})`)
  return found
}

/** At least once, and whatever comes again is known by its ID. */
function arrivalFindings({ kept, arrivals }: History): string[] {
  const bySid = Map.groupBy(arrivals, ({ sid }) => sid)
  const events = new Set(kept.events)
  return [
    ...missing(kept.events, bySid.keys()).map(
      (sid) => `the revocation of ${sid} was not delivered`,
    ),
    ...[...bySid].flatMap(([sid, own]) => {
      const ids = new Set(own.map(({ id }) => id)).size
      return [
        ...(ids > 1 ? [`the revocation of ${sid} was delivered under ${ids} IDs`] : []),
        ...(events.has(sid) ? [] : [`the revocation of ${sid} was delivered, and never committed`]),
      ]
    }),
  ]
}

function missing(wanted: readonly string[], there: Iterable<string>): string[] {
  const known = new Set(there)
  return wanted.filter((one) => !known.has(one))
}

function countsOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}
