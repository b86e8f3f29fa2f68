/**
 * What the answers to probes mean. Pure: observations in, checks out, each with what was found
 * and what a person should do about it.
 */
import { LIMITS } from '../../shared/limits.ts'
import type { Answer, Problem } from './probe-client.ts'

export interface CheckResult {
  readonly check: string
  readonly status: 'pass' | 'fail' | 'warn' | 'skip'
  readonly detail: string
  readonly nextAction: string
}

/** In the order in which a person should put them right. */
export const PLATFORM_CHECKS = [
  'hostname_routed',
  'application_reached',
  'middleware_mounted',
  'key_installed',
  'sealed_hidden',
] as const

export interface KeyObservation {
  readonly kid: string
  readonly isCurrent: boolean
  readonly nonce: string
  readonly genuine: Answer
  readonly forged: Answer
}

export interface AddressObservation {
  readonly url: string
  readonly answer: Answer
  /** The answer proves that our gateway carried the request. */
  readonly isCarried: boolean
}

export interface Observations {
  /** In sdk mode requests reach the application without an edge. */
  readonly hasEdge: boolean
  readonly isSuspended: boolean
  readonly origin: string
  readonly keysUrl: string
  /** Hostnames that were left out, since a person waits for this. */
  readonly unaskedAddresses: number
  /** The first one is the address that the other observations were made at. */
  readonly addresses: readonly AddressObservation[]
  readonly keys: readonly KeyObservation[]
  /** undefined while protection is off, when sealed paths are open by design. */
  readonly sealed: readonly { readonly path: string; readonly answer: Answer }[] | undefined
}

const PROBLEMS: Record<Problem, string> = {
  unresolved: 'the name does not resolve',
  refused: 'the connection is refused',
  timeout: 'there is no answer in time',
  tls: 'the TLS certificate is not accepted',
  broken: 'the answer is not HTTP, or breaks off',
}

export function judge(seen: Observations): CheckResult[] {
  const application = applicationReached(seen)
  const isReached = application.status === 'pass' || application.status === 'warn'
  const checks = [
    application,
    isReached ? middlewareMounted(seen) : unreached('middleware_mounted'),
    isReached ? keyInstalled(seen) : unreached('key_installed'),
    sealedHidden(seen),
  ]
  return seen.hasEdge ? [hostnameRouted(seen), ...checks] : checks
}

function hostnameRouted({ addresses, unaskedAddresses }: Observations): CheckResult {
  const check = 'hostname_routed'
  const wrong = addresses.filter((address) => !address.isCarried)
  const [first] = wrong
  if (addresses.length === 0)
    return fail(check, 'The tenant has no hostname.', 'Give it one with PATCH hostnames.')
  const leftOut = unaskedAddresses === 0 ? '' : ` ${unaskedAddresses} more were not asked.`
  if (first === undefined)
    return pass(
      check,
      `${addresses.map(({ url }) => url).join(', ')}: carried by a gateway.${leftOut}`,
    )
  const others = wrong.length > 1 ? ` So it is with ${wrong.length - 1} more.` : ''
  const { url, answer } = first
  if (answer.kind === 'answered')
    return fail(
      check,
      `${url} answers ${answer.status}, but no gateway of this service carried the request.${others}`,
      'Point the DNS record of this name at the gateways and wait for its TTL to pass. If it points there already, look under gateways whether they have applied the newest revision.',
    )
  return fail(
    check,
    `${url}: ${PROBLEMS[answer.problem]}.${others}`,
    answer.problem === 'tls'
      ? 'Upload a certificate that names this hostname and is signed by a CA that browsers know.'
      : 'Check that the DNS record of this name points at the gateways and that they run.',
  )
}

function applicationReached(seen: Observations): CheckResult {
  const check = 'application_reached'
  const { hasEdge, isSuspended, origin } = seen
  const [first] = seen.addresses
  if (isSuspended)
    return fail(check, 'The tenant is suspended.', 'Have the operator activate the tenant.')
  if (first === undefined) return fail(check, 'There is no address to ask.', 'Add a hostname.')
  const { url, answer, isCarried } = first
  if (hasEdge && !isCarried)
    return fail(
      check,
      `${url} does not lead through a gateway.`,
      'Make hostname_routed pass first.',
    )
  if (answer.kind === 'unanswered')
    return fail(
      check,
      `${url}: ${PROBLEMS[answer.problem]}.`,
      `Check that the application runs and answers at ${origin}.`,
    )
  if (answer.status === 502 || answer.status === 504)
    return fail(
      check,
      `${url} answers ${answer.status}: there is no answer from the application at ${origin}.`,
      `Start the application, and check that ${origin} can be reached from where the gateway runs.`,
    )
  const detail = `The application answers ${answer.status} at ${url}.`
  if (Math.abs(answer.clockAheadMs) <= LIMITS.probeClockSkewMsMax) return pass(check, detail)
  const seconds = Math.round(answer.clockAheadMs / 1000)
  return {
    check,
    status: 'warn',
    detail: `${detail} Its clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}.`,
    nextAction: 'Synchronise its clock (NTP): sessions are refused when clocks differ too much.',
  }
}

function middlewareMounted({ keys, keysUrl }: Observations): CheckResult {
  const check = 'middleware_mounted'
  const believer = keys.find(({ forged }) => statusOf(forged) === 204)
  if (believer !== undefined)
    return fail(
      check,
      'The application accepted a probe that was signed with a foreign key.',
      'Verify the signature (RS256, the published keys) before anything in a token is believed.',
    )
  if (keys.some((key) => isAccepted(key) && statusOf(key.forged) === 401))
    return pass(check, 'The middleware accepts a genuine probe and refuses a forged one.')
  if (keys.some(isRefusedByMiddleware))
    return pass(
      check,
      'The middleware answers probes, but accepts no genuine one: see key_installed.',
    )
  const key = keys.find(({ isCurrent }) => isCurrent) ?? keys[0]
  const found = describe(key?.genuine)
  if (statusOf(key?.genuine) === 401)
    return fail(
      check,
      'The application answers 401 to a genuine probe.',
      `Either something in front of the middleware refuses the health path, or the middleware does not have the key: install the keys from ${keysUrl}.`,
    )
  return fail(
    check,
    `A genuine probe is answered ${found} instead of 204: nothing on the health path looks at X-Service-Probe.`,
    'Mount the middleware in front of all routes, the health path included (see snippets in the contract), and restart the application.',
  )
}

function keyInstalled({ keys, keysUrl }: Observations): CheckResult {
  const check = 'key_installed'
  const missing = keys.filter((key) => !isAccepted(key))
  if (missing.length === 0) return pass(check, `Every published key is accepted (${keys.length}).`)
  const names = missing.map(({ kid, isCurrent, genuine }) => {
    const name = isCurrent ? `${kid} (in use)` : kid
    return `${name}: ${describe(genuine)}`
  })
  return fail(
    check,
    `Not accepted: ${names.join(', ')}.`,
    `Install every key that ${keysUrl} lists, and restart the application if it reads them at start.`,
  )
}

function sealedHidden({ sealed }: Observations): CheckResult {
  const check = 'sealed_hidden'
  if (sealed === undefined) return skip(check, 'Protection is off, so sealed paths are still open.')
  if (sealed.length === 0) return skip(check, 'The tenant has no sealed paths.')
  const open = sealed.filter(({ answer }) => statusOf(answer) !== 404)
  if (open.length === 0) return pass(check, `Sealed paths answer 404 (${sealed.length} tried).`)
  const found = open.map(({ path, answer }) => `${path} (${describe(answer)})`).join(', ')
  return fail(
    check,
    `Not hidden: ${found}.`,
    'Make hostname_routed pass first, and look under gateways whether they have applied the newest revision.',
  )
}

function isAccepted({ genuine, nonce }: KeyObservation): boolean {
  return genuine.kind === 'answered' && genuine.status === 204 && genuine.reply === nonce
}

/** A 401 of ours carries the reply header, empty; a 401 of anything else does not. */
function isRefusedByMiddleware({ genuine, forged }: KeyObservation): boolean {
  return [genuine, forged].every(
    (answer) => answer.kind === 'answered' && answer.status === 401 && answer.reply === '',
  )
}

const statusOf = (answer: Answer | undefined) =>
  answer?.kind === 'answered' ? answer.status : undefined

function describe(answer: Answer | undefined): string {
  if (answer === undefined) return 'not at all'
  if (answer.kind === 'unanswered') return PROBLEMS[answer.problem]
  return answer.status === 204 ? '204 without the right reply' : String(answer.status)
}

const unreached = (check: string) =>
  fail(check, 'The application was not reached.', 'Make application_reached pass first.')

const pass = (check: string, detail: string): CheckResult => ({
  check,
  status: 'pass',
  detail,
  nextAction: '',
})
const skip = (check: string, detail: string): CheckResult => ({
  check,
  status: 'skip',
  detail,
  nextAction: '',
})
const fail = (check: string, detail: string, nextAction: string): CheckResult => ({
  check,
  status: 'fail',
  detail,
  nextAction,
})
