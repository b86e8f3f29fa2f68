/** Rules, people, and a second judge that is as plain as can be, to hold the real one against. */
import type { AccessFacts } from '../../shared/enforcement/access-clauses.ts'
import type { AccessAsked } from '../../shared/enforcement/access-rules.ts'
import type { AccessRule, AllowClause, EnforcedRules } from '../../shared/fleet/access-rules.ts'
import { networkList } from '../../shared/networks.ts'

const NETWORKS: Readonly<Record<string, string[]>> = {
  office: ['192.0.2.0/24'],
  vpn: ['198.51.100.0/25', '2001:db8::/32'],
}
const SLOTS = [
  { slot: 0, since: 1, group: 'admins' },
  { slot: 1, since: 1, group: 'finance' },
  { slot: 9, since: 2, group: 'late' },
]

const ATTRIBUTE_SLOTS = [
  { slot: 2, since: 1, attribute: 'department', value: 'audit' },
  { slot: 3, since: 1, attribute: 'department', value: 'sales' },
  { slot: 10, since: 2, attribute: 'title', value: 'a=b' },
]

export const SERVICES = ['svc_00000000000000aa', 'svc_00000000000000bb'] as const

export const rulesOf = (rules: AccessRule[]): EnforcedRules => ({
  networks: NETWORKS,
  slots: SLOTS,
  attribute_slots: ATTRIBUTE_SLOTS,
  rules,
})

/** Those that they name: to compile a network takes longer than a rule. */
export function networksOf(rules: readonly AccessRule[]): EnforcedRules['networks'] {
  const named: Record<string, string[]> = {}
  for (const { allow, deny = [] } of rules)
    for (const clauses of [allow, deny])
      for (const { network, not_network } of clauses)
        for (const name of [network, not_network])
          if (name !== undefined) named[name] = NETWORKS[name]!
  return named
}

export const facts = (): AccessFacts => ({
  clientAddress: '203.0.113.1',
  nowSeconds: 10_000,
  authTime: 9_500,
  isStrong: false,
  groupBits: Uint8Array.of(0),
  groupsVersion: 1,
})

type Truth = 'yes' | 'no' | 'unknown'

/** For a path that everybody reads alike. */
export function naive(rules: readonly AccessRule[], asked: AccessAsked, who: AccessFacts): boolean {
  const speaking = rules.filter(
    ({ host, path }) =>
      (host === undefined || host === asked.host) &&
      (path === '/' || `${asked.path}/`.startsWith(`${path}/`)),
  )
  const named = speaking.filter(
    ({ methods }) =>
      methods === undefined ||
      methods.includes(asked.method) ||
      (asked.method === 'HEAD' && methods.includes('GET')),
  )
  const isMachine = who.serviceId !== undefined
  // what is written for machines does not concern people, nor the other way round
  const meant = (clause: AllowClause) => Object.hasOwn(clause, 'service') === isMachine
  for (const { deny = [] } of named)
    for (const clause of deny)
      if (meant(clause) && !truthsOf(clause, who).includes('no')) return false
  const paths = [...new Set(speaking.map(({ path }) => path))].sort((a, b) => a.length - b.length)
  let isOpen = !isMachine || paths.length > 0
  for (const path of paths) {
    const letting = named.filter(
      (rule) =>
        rule.path === path &&
        rule.allow.some(
          (clause) => meant(clause) && truthsOf(clause, who).every((truth) => truth === 'yes'),
        ),
    )
    isOpen = letting.some(({ widen = false }) => widen || isOpen)
  }
  return isOpen
}

function truthsOf(clause: AllowClause, who: AccessFacts): Truth[] {
  return Object.entries(clause).flatMap(([condition, wish]) => {
    if (condition === 'attr' && who.serviceId === undefined)
      return Object.entries(wish as Record<string, string>).map(([name, value]) =>
        hasAttribute(name, value, who),
      )
    if (condition === 'signed_in') return 'yes'
    if (condition === 'service') return said(who.serviceId === wish)
    if (who.serviceId !== undefined && !condition.endsWith('network')) return 'no'
    if (condition === 'strength') return said(who.isStrong)
    if (condition === 'max_age') return said(who.nowSeconds - who.authTime <= Number(wish))
    const isNegated = condition.startsWith('not_')
    const truth = condition.endsWith('group')
      ? inGroup(wish as string, who)
      : inNetwork(wish as string, who)
    if (!isNegated || truth === 'unknown') return truth
    return truth === 'yes' ? 'no' : 'yes'
  })
}

const said = (is: boolean): Truth => (is ? 'yes' : 'no')

const inGroup = (name: string, who: AccessFacts): Truth =>
  bitOf(
    SLOTS.find(({ group }) => group === name),
    who,
  )

const hasAttribute = (name: string, value: string, who: AccessFacts): Truth =>
  bitOf(
    ATTRIBUTE_SLOTS.find((one) => one.attribute === name && one.value === value),
    who,
  )

function bitOf(
  slot: { readonly slot: number; readonly since: number } | undefined,
  { groupBits, groupsVersion }: AccessFacts,
): Truth {
  if (slot === undefined || groupBits === undefined) return 'unknown'
  if (slot.since > groupsVersion || slot.slot >= groupBits.length * 8) return 'unknown'
  const bits = [...groupBits].flatMap((byte) =>
    [0, 1, 2, 3, 4, 5, 6, 7].map((at) => (byte >> at) % 2),
  )
  return said(bits[slot.slot] === 1)
}

const LISTS = new Map(Object.entries(NETWORKS).map(([name, list]) => [name, networkList(list)]))

function inNetwork(name: string, { clientAddress }: AccessFacts): Truth {
  if (clientAddress === '') return 'unknown'
  return said(LISTS.get(name)!(clientAddress))
}

/** mulberry32: the same numbers for the same seed, everywhere. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const OF_DENIES = ['signed_in', 'group', 'not_group', 'attr', 'network', 'not_network'] as const
const OF_ALLOWS = [...OF_DENIES, 'strength', 'max_age'] as const

export function randomCase(random: () => number) {
  const below = (most: number) => Math.floor(random() * most)
  const one = <Item>(...items: readonly Item[]): Item => items[below(items.length)]!
  const some = <Item>(most: number, make: () => Item): Item[] => {
    const made: Item[] = []
    for (let left = below(most + 1); left > 0; left--) made.push(make())
    return made
  }
  const path = (depth: number) => `/${some(depth, () => one('a', 'b', 'ab')).join('/')}`
  const group = () => one('admins', 'finance', 'late', 'nobody')
  const attribute = () =>
    one(['department', 'audit'], ['department', 'sales'], ['title', 'a=b'], ['floor', '3'])
  const condition = (isDeny: boolean): [string, unknown] => {
    const name = one(...(isDeny ? OF_DENIES : OF_ALLOWS))
    if (name === 'signed_in') return [name, true]
    if (name === 'strength') return [name, 'mfa']
    if (name === 'max_age') return [name, one(60, 900)]
    if (name === 'attr') return [name, Object.fromEntries([attribute(), ...some(1, attribute)])]
    return [name, name.endsWith('group') ? group() : one('office', 'vpn')]
  }
  const clause = (isDeny: boolean): AllowClause => {
    const chosen = [condition(isDeny), ...some(1, () => condition(isDeny))]
    return Object.fromEntries(
      random() < 0.3 ? [['service', one(...SERVICES)], ...some(1, () => chosen[0]!)] : chosen,
    )
  }
  const rule = (): AccessRule => ({
    path: path(3),
    allow: [clause(false), ...some(2, () => clause(false))],
    ...(random() < 0.3 && { host: one('app.example.com', 'other.example.com') }),
    ...(random() < 0.3 && { methods: [one('GET', 'POST', 'HEAD')] }),
    ...(random() < 0.3 && { widen: random() < 0.8 }),
    ...(random() < 0.3 && { deny: some(2, () => clause(true)) }),
  })
  const who: AccessFacts = {
    clientAddress: one('192.0.2.1', '198.51.100.1', '198.51.100.200', '2001:db8::1', ''),
    nowSeconds: 10_000,
    authTime: 10_000 - one(0, 60, 61, 900, 901),
    isStrong: random() < 0.5,
    groupBits: one(
      undefined,
      new Uint8Array(0),
      Uint8Array.of(below(16)),
      Uint8Array.of(below(16), below(8)),
    ),
    groupsVersion: below(3),
    serviceId: random() < 0.4 ? one(...SERVICES, 'svc_00000000000000cc') : undefined,
  }
  const asked: AccessAsked = {
    host: one('app.example.com', 'third.example.com'),
    method: one('GET', 'POST', 'HEAD'),
    path: path(4),
  }
  return { rules: [rule(), ...some(5, rule)], asked, who }
}
