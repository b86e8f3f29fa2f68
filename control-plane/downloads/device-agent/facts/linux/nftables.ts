/** What a ruleset does with what no rule decides on, from `nft -j list ruleset`. */
import * as v from 'valibot'

export interface Defaults {
  /** Refused unless a rule lets it in. */
  readonly ipv4: boolean
  readonly ipv6: boolean
}

const named = { family: v.string(), table: v.string() }
const ChainSchema = v.object({
  chain: v.object({
    ...named,
    name: v.string(),
    type: v.optional(v.string()),
    hook: v.optional(v.string()),
    policy: v.optional(v.string()),
  }),
})
const RuleSchema = v.object({
  rule: v.object({ ...named, chain: v.string(), expr: v.array(v.record(v.string(), v.unknown())) }),
})
const RulesetSchema = v.object({ nftables: v.array(v.unknown()) })

const COUNTS = new Set(['counter', 'log'])
const REFUSALS = ['drop', 'reject']
const VERDICTS = ['accept', ...REFUSALS]

/** null: no ruleset. */
export function defaultsOf(text: string): Defaults | null {
  const ruleset = v.safeParse(RulesetSchema, jsonOf(text))
  if (!ruleset.success) return null
  const { nftables } = ruleset.output
  const chains = nftables.flatMap((item) => {
    const parsed = v.safeParse(ChainSchema, item)
    return parsed.success ? [parsed.output.chain] : []
  })
  const rules = nftables.flatMap((item) => {
    const parsed = v.safeParse(RuleSchema, item)
    return parsed.success ? [parsed.output.rule] : []
  })
  // one chain that refuses is enough: what another accepts still has to pass it
  const refusing = chains
    .filter(({ type, hook }) => type === 'filter' && hook === 'input')
    .filter(({ family, table, name, policy }) => {
      const verdict = rules
        .filter((rule) => rule.family === family && rule.table === table && rule.chain === name)
        .map(({ expr }) => verdictOnAll(expr))
        .find((one) => one !== undefined)
      return REFUSALS.includes(verdict ?? policy ?? '')
    })
    .map(({ family }) => family)
  const covers = (family: string) => refusing.includes(family) || refusing.includes('inet')
  return { ipv4: covers('ip'), ipv6: covers('ip6') }
}

/** Without a condition: it counts and writes down at most. What comes behind it decides nothing. */
function verdictOnAll(expressions: readonly Record<string, unknown>[]): string | undefined {
  const kinds = expressions.flatMap((one) => Object.keys(one)).filter((kind) => !COUNTS.has(kind))
  return VERDICTS.find((one) => one === kinds[0])
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
