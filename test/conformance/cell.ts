/**
 * What a target did with a request, in words that do not depend on the target. Whatever is in a
 * cell is compared: with what the table requires, and between all targets.
 */
import { isForeign } from '../../shared/enforcement/foreign-headers.ts'
import type { Cell, Outcome, Received } from './case.ts'
import type { Arrival, Heard } from './target.ts'
import { isOfTheWire } from './wire-differences.ts'

export function cellOf({ status, headers, body, arrived }: Heard, isOurs: boolean): Cell {
  const valuesOf = (wanted: string) =>
    headers.filter(([name]) => name === wanted).map(([, value]) => value)
  const isForwarded = arrived.length > 0
  const location = withoutChance(valuesOf('location').join(' | '))
  const reason = isForwarded ? '' : reasonIn(body)
  const setCookies = valuesOf('set-cookie')
  const side = isForwarded
    ? 'application answer'
    : !isOurs && WIRE_CODES.test(reason)
      ? 'refusal of the wire'
      : 'own answer'
  const told = headers.filter(([name]) => !isOfTheWire(name, side))
  return {
    outcome: outcomeOf({ status, reason, location, isForwarded, isOurs }),
    reason,
    location,
    cacheControl: valuesOf('cache-control').join(', '),
    cookies: setCookies.map(cookieName),
    lines: told.map(([name, value]) => withoutChance(`${name}: ${value}`)).sort(),
    body: isForwarded ? '' : withoutChance(body).trimEnd(),
    application: isForwarded ? receivedBy(arrived) : null,
  }
}

interface Told {
  readonly status: number
  readonly reason: string
  readonly location: string
  readonly isForwarded: boolean
  /** One of the service's own addresses was asked. */
  readonly isOurs: boolean
}

function outcomeOf({ status, reason, location, isForwarded, isOurs }: Told): Outcome {
  if (isForwarded) return 'forward'
  if (status === 302 && location.startsWith('/service/login?')) return 'sign_in_redirect'
  if (status === 401 && SIGN_IN.test(reason)) return 'sign_in_401'
  if (status === 404 && reason === 'not_found') return 'sealed_404'
  return isOurs ? `service_${status}` : `refused_${status}`
}

/** What is refused before it can be decided on. */
const WIRE_CODES =
  /^(?:bad_[a-z]+|host_mismatch|method_[a-z_]+|target_too_long|head_too_large|version_[a-z_]+)$/
const SIGN_IN = /^sign_in_required: /

function reasonIn(body: string): string {
  if (body.startsWith('{')) {
    const { error, reason } = JSON.parse(body) as { error?: unknown; reason?: unknown }
    return [error, reason].filter((text) => typeof text === 'string').join(': ')
  }
  return /<small(?: hidden)?>([^<]*)<\/small>/.exec(body)?.[1] ?? ''
}

const cookieName = (line: string) => {
  const name = withoutChance(line.slice(0, line.indexOf('=')))
  return line.includes('; Max-Age=0;') ? `-${name}` : name
}

/** A sign-in that begins has a name, a secret and a nonce that nobody can foretell. */
function withoutChance(text: string): string {
  return text
    .replace(/service_flow_[0-9a-z]{7}[A-Za-z0-9_-]{11}(=[A-Za-z0-9_-]+)?/g, (_, value?: string) =>
      value === undefined ? 'service_flow_<id>' : 'service_flow_<id>=<sealed>',
    )
    .replace(/([?&](?:state|nonce|code_challenge)=)[A-Za-z0-9_.-]+/g, '$1<random>')
}

const OURS = [
  'x-service-user',
  'x-service-claims',
  'x-service-verified',
  'x-service-groups',
] as const

function receivedBy(arrived: readonly Arrival[]): Received {
  const [first, second] = arrived
  if (first === undefined || second !== undefined) throw new Error('the request arrived twice')
  const lines: string[] = []
  const named: Record<(typeof OURS)[number], string[]> = {
    'x-service-user': [],
    'x-service-claims': [],
    'x-service-verified': [],
    'x-service-groups': [],
  }
  const cookies: string[] = []
  const foreign: string[] = []
  for (let at = 0; at + 1 < first.rawHeaders.length; at += 2) {
    const spelling = first.rawHeaders[at]!
    const value = first.rawHeaders[at + 1]!
    const name = spelling.toLowerCase()
    const own = OURS.find((known) => known === name)
    if (own !== undefined) named[own].push(value)
    else if (isForeign(name)) foreign.push(spelling)
    else if (name === 'cookie') cookies.push(value)
    else if (!isOfTheWire(name, 'request')) lines.push(`${name}: ${value}`)
  }
  // whatever else it shows, this is what came: or a credential that was taken out is still there
  const authorization = valuesIn(first.rawHeaders, 'authorization')[0]
  if (first.shown['authorization'] !== authorization) foreign.push('authorization (shown)')
  const [user = '', claims = '', verified = '', groups = ''] = OURS.map((name) =>
    agreed(named[name], first.shown[name]),
  )
  for (const name of Object.keys(first.shown))
    if (isForeign(name) && !OURS.some((own) => own === name)) foreign.push(`${name} (shown)`)
  const isAgreed = first.user === undefined || (first.user ?? '') === user
  return {
    method: first.method,
    target: first.target,
    user: isAgreed ? user : `${user} in the header, ${first.user} of the middleware`,
    claims,
    verified,
    groups,
    cookies: agreed([cookies.join('; ')], first.shown['cookie'] ?? ''),
    foreign,
    lines: lines.sort(),
  }
}

const valuesIn = (lines: readonly string[], name: string) =>
  lines.filter((_, at) => at % 2 === 1 && lines[at - 1]!.toLowerCase() === name)

/** A framework that reads something else than what the lines say is no conforming target. */
function agreed(lines: readonly string[], shown: unknown): string {
  const text = lines.join(', ')
  const other = typeof shown === 'string' ? shown : ''
  return text === other ? text : `${text} in the lines, ${other} as the framework shows it`
}
