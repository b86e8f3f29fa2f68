/**
 * What other rules would have meant for those who were here: each person and machine, from each address
 * that they came from, held against each path that either set of rules speaks of. Pure. Which paths
 * they have opened nobody records, so it says who could have, and not who did.
 */
import { LRUCache } from 'lru-cache'
import type { AccessAsked } from '../../shared/enforcement/access-rules.ts'
import type { AccessRule, AccessRules } from '../../shared/fleet/access-rules.ts'
import { normalPrefix } from '../../shared/enforcement/path.ts'
import { LIMITS } from '../../shared/limits.ts'
import { isAddress, networkList } from '../../shared/networks.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import { askAccess, type Asker } from './access-questions.ts'
import { predicatesIn } from './rule-predicates.ts'

/** Somebody who was here, with what is known of them. */
export interface Visitor {
  /** Of a person or of a machine. */
  readonly id: string
  /** Groups and attributes, as far as rules speak of them. */
  readonly held: ReadonlySet<string>
  readonly serviceId?: string
  readonly address: string
}

/** refused: no longer. asked: for a second factor, or to sign in again. opened: no longer refused or asked. */
export const CHANGES = ['refused', 'asked', 'opened'] as const
export type AccessChange = (typeof CHANGES)[number]

export interface ChangedPath {
  /** undefined: every hostname that no rule names. */
  readonly host: string | undefined
  readonly path: string
  /** For which methods of those that were tried it is so. */
  readonly methods: readonly string[]
  readonly change: AccessChange
  /** How many people and machines. */
  readonly count: number
  /** The first of them. */
  readonly ids: readonly string[]
}

const METHODS_TRIED = ['GET', 'POST']
/** Proven so long ago that every rule with an age asks again. */
const LONG_AGO_SECONDS = 365 * 24 * 3600
/** Of people who are alike to all rules; who is not among them is looked at again. */
const KINDS_KEPT_MAX = 2000

interface Probe {
  readonly host: string | undefined
  readonly path: string
  readonly method: string
}

/** Who it is true of. Visits of one come one after the other. */
interface Found {
  readonly probe: Probe
  readonly change: AccessChange
  count: number
  readonly ids: string[]
  lastId: string
  /** The same for the same people. */
  sum: number
}

export type AccessReplay = ReturnType<typeof createAccessReplay>

export function createAccessReplay(
  before: AccessRules,
  after: AccessRules,
  tenant: Pick<Tenant, 'sealed' | 'excluded'>,
) {
  const rules = [...before.rules, ...after.rules]
  const { probes, isCut } = probesOf(rules)
  const spokenOf = predicatesIn(rules)
  const networks = [before, after].flatMap((one) => Object.values(one.networks ?? {}))
  const areIn = networks.map(networkList)
  const was = askAccess(before, tenant)
  const willBe = askAccess(after, tenant)
  const found = new Map<string, Found>()
  const known = new LRUCache<string, Uint8Array>({ max: KINDS_KEPT_MAX })
  let visits = 0

  /** Two with the same are alike to all rules. */
  function kindOf({ serviceId = '', held, address }: Visitor): string {
    const spoken = [...held].filter((one) => spokenOf.has(one)).sort()
    const from = isAddress(address) ? areIn.map((isIn) => (isIn(address) ? 1 : 0)).join('') : '?'
    return JSON.stringify([serviceId, spoken, from])
  }

  /** By probe: 0 where nothing changes, else the place of the change behind it. */
  function* changesFor(visitor: Visitor): Generator<undefined, Uint8Array> {
    const kind = kindOf(visitor)
    const looked = known.get(kind)
    if (looked !== undefined) return looked
    const asker: Asker = { ...visitor, isStrong: false, signedInSecondsAgo: LONG_AGO_SECONDS }
    const changes = new Uint8Array(probes.length)
    for (const [at, { host = '', path, method }] of probes.entries()) {
      yield
      const asked: AccessAsked = { host, path, method }
      changes[at] = placeOf(was.judge(asked, asker), willBe.judge(asked, asker))
    }
    known.set(kind, changes)
    return changes
  }

  return {
    /** Of the methods that rules name not all were tried. */
    isCut,
    /**
     * In the order of their ids: who comes from several addresses counts once. One look at a time, so
     * that whoever has many made lets others have their turn; who is left in the middle counts nowhere.
     */
    *add(visitor: Visitor): Generator<undefined, void> {
      const changes = yield* changesFor(visitor)
      visits++
      for (const [at, probe] of probes.entries()) {
        const change = CHANGES[changes[at]! - 1]
        if (change === undefined) continue
        const none = () => ({ probe, change, count: 0, ids: [], lastId: '', sum: 0 })
        const one = found.getOrInsertComputed(`${at} ${change}`, none)
        if (one.lastId === visitor.id) continue
        one.lastId = visitor.id
        one.count++
        one.sum = (Math.imul(one.sum, 31) + visits) | 0
        if (one.ids.length < LIMITS.replayedPeopleListedMax) one.ids.push(visitor.id)
      }
    },

    /** Methods that mean the same for the same people are one row; who loses most comes first. */
    result(): readonly ChangedPath[] {
      const rows = Map.groupBy(found.values(), ({ probe, change, count, sum }) =>
        JSON.stringify([probe.host, probe.path, change, count, sum]),
      )
      return [...rows.values()]
        .map((alike): ChangedPath => {
          const { probe, change, count, ids } = alike[0]!
          const methods = alike.map((one) => one.probe.method)
          return { host: probe.host, path: probe.path, methods, change, count, ids }
        })
        .sort((a, b) => CHANGES.indexOf(a.change) - CHANGES.indexOf(b.change) || b.count - a.count)
    },
  }
}

type Standing = ReturnType<ReturnType<typeof askAccess>['judge']>
const STANDINGS: readonly Standing[] = ['refused', 'asked', 'open']

function placeOf(before: Standing, after: Standing): number {
  if (before === after) return 0
  const isBetter = STANDINGS.indexOf(after) > STANDINGS.indexOf(before)
  return CHANGES.indexOf(isBetter ? 'opened' : after === 'asked' ? 'asked' : 'refused') + 1
}

/** Each path that is spoken of, with the methods that are: of very many the first. */
function probesOf(rules: readonly AccessRule[]) {
  const methods = [...new Set([...METHODS_TRIED, ...rules.flatMap((rule) => rule.methods ?? [])])]
  const places = new Map(
    rules.map(({ host, path: written }) => {
      const path = normalPrefix(written) ?? written
      return [JSON.stringify([host, path]), { host, path }]
    }),
  )
  const most = Math.floor(LIMITS.replayedProbesMax / places.size)
  const tried = methods.slice(0, Math.max(most, METHODS_TRIED.length))
  const probes = [...places.values()].flatMap((place) =>
    tried.map((method): Probe => ({ ...place, method })),
  )
  return { probes, isCut: tried.length < methods.length }
}
