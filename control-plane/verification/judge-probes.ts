/** What genuine and forged probes tell of the middleware and of its keys. */
import { clockOf, describeClock, whatToDoAboutTheClock } from './application-clock.ts'
import { type CheckResult, resultsOf } from './checks.ts'
import { keysUrlOf, statusOf, type KeyObservation, type Observations } from './observations.ts'
import { PROBLEMS, type Answer } from './probe-client.ts'

export function middlewareMounted(seen: Observations): CheckResult {
  const { fail, pass } = resultsOf('middleware_mounted')
  const { keys, health } = seen
  const contractUrl = `${seen.baseUrl}/api/v1/contract`
  if (keys.some(({ forged }) => statusOf(forged) === 204))
    return fail(
      'The application answers 204 to a probe signed with a foreign key: it trusts anything, so anyone could sign in as anyone.',
      `Verify the signature of X-Service-Probe and X-Service-Claims (RS256, with the keys from ${keysUrlOf(seen)}) before trusting anything in them, as the snippets in ${contractUrl} do.`,
    )
  if (keys.some((key) => isAccepted(key) && statusOf(key.forged) === 401))
    return pass('The middleware accepts a genuine probe and refuses a forged one.')
  if (keys.some(isRefusedByMiddleware))
    return pass('The middleware answers probes but rejects genuine ones: see key_installed.')
  const lenient = keys.find(isAccepted)
  if (lenient !== undefined)
    return fail(
      `A genuine probe is accepted, but a forged one is answered ${describe(lenient.forged)} instead of 401.`,
      `Answer 401 on ${health} if the signature of X-Service-Probe is invalid, before any route sees the request.`,
    )
  const key = keys.find(({ isCurrent }) => isCurrent) ?? keys[0]
  const status = statusOf(key?.genuine)
  if (status === 401)
    return fail(
      `${health} answers 401 to a genuine probe, but without X-Service-Probe-Reply, so the answer is not from the middleware.`,
      `Mount the middleware before anything that asks for a sign-in on ${health}, with the keys from ${keysUrlOf(seen)}; the snippets in ${contractUrl} show where.`,
    )
  if (status !== undefined && status >= 300 && status < 400)
    return fail(
      `${health} answers a genuine probe with a redirect (${status}) instead of 204.`,
      `Mount the middleware in front of what redirects ${health} (to a sign-in, to https, to a language), or ask the operator to set a health path that is not redirected.`,
    )
  if (status === 204)
    return fail(
      `${health} answers 204, but without the nonce of the probe in X-Service-Probe-Reply.`,
      `Answer a genuine probe with its claim "nonce" in the header X-Service-Probe-Reply, and make sure no proxy removes that header; see the snippets in ${contractUrl}.`,
    )
  return fail(
    `${health} answers a genuine probe ${describe(key?.genuine)} instead of 204: nothing there looks at X-Service-Probe.`,
    `Mount the middleware in front of all routes, ${health} included, as the snippets in ${contractUrl} show, and restart the application.`,
  )
}

export function keyInstalled(seen: Observations): CheckResult {
  const { fail, pass } = resultsOf('key_installed')
  const { keys } = seen
  const missing = keys.filter((key) => !isAccepted(key))
  const [first] = missing
  if (first === undefined) return pass(`Every published key is accepted (${keys.length}).`)
  const names = missing.map(({ kid, isCurrent, genuine }) => {
    const name = isCurrent ? `${kid} (in use)` : kid
    return `${name}: ${describe(genuine)}`
  })
  const detail = `Not accepted: ${names.join(', ')}.`
  // a probe is good for a minute, so a clock that is far off looks like a key that is missing
  const clock = clockOf(first.genuine)
  if (clock !== undefined && missing.length === keys.length && statusOf(first.genuine) === 401)
    return fail(`${detail} ${describeClock(clock)}`, whatToDoAboutTheClock(clock, seen.hasEdge))
  return fail(
    detail,
    `Install every key that this lists, and restart the application if it reads them at start: curl -H 'Accept: application/x-pem-file' ${keysUrlOf(seen)} -o service_public.pem`,
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

function describe(answer: Answer | undefined): string {
  if (answer === undefined) return 'not at all'
  if (answer.kind === 'unanswered') return `not at all (${PROBLEMS[answer.problem]})`
  return answer.status === 204 ? '204 without the expected reply' : String(answer.status)
}
