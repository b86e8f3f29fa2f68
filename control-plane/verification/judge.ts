/**
 * What the answers to probes mean. Pure: observations in, checks out, each with what was found and
 * the one thing to do next, written for somebody who is stuck.
 */
import { clockOf, describeClock, whatToDoAboutTheClock } from './application-clock.ts'
import { type CheckResult, resultsOf } from './checks.ts'
import { feedPolled } from './judge-feed.ts'
import { notThroughConnectors } from './judge-connectors.ts'
import { keyInstalled, middlewareMounted } from './judge-probes.ts'
import { operatorUrlOf, statusOf, type Observations } from './observations.ts'
import { PROBLEMS, type Problem } from './probe-client.ts'

export function judge(seen: Observations): CheckResult[] {
  const application = applicationReached(seen)
  const isReached = application.status === 'pass' || application.status === 'warn'
  return [
    ...(seen.hasEdge ? [hostnameRouted(seen)] : []),
    application,
    isReached ? middlewareMounted(seen) : unreachable('middleware_mounted'),
    isReached ? keyInstalled(seen) : unreachable('key_installed'),
    ...(seen.feed === undefined ? [] : [feedPolled(seen, seen.feed)]),
    sealedHidden(seen),
  ]
}

function hostnameRouted(seen: Observations): CheckResult {
  const { fail, pass } = resultsOf('hostname_routed')
  const { addresses, unaskedAddresses } = seen
  const wrong = addresses.filter((address) => !address.isCarried)
  const [first] = wrong
  if (addresses.length === 0)
    return fail(
      'The tenant has no hostname.',
      `Ask the operator to add one: PATCH ${operatorUrlOf(seen)} with {"hostnames": ["app.example.com"]}.`,
    )
  const leftOut = unaskedAddresses === 0 ? '' : ` ${unaskedAddresses} more were not checked.`
  if (first === undefined)
    return pass(
      `${addresses.map(({ url }) => url).join(', ')}: routed through a gateway.${leftOut}`,
    )
  const others = wrong.length > 1 ? ` The same goes for ${wrong.length - 1} more.` : ''
  const { url, answer } = first
  const { hostname } = new URL(url)
  if (answer.kind === 'answered')
    return fail(
      `${url} answers ${answer.status}, but the request did not go through a gateway of this service.${others}`,
      `Point the DNS record of ${hostname} at the gateways (dig +short ${hostname} shows where it points now). If it does, a gateway lags behind: see ${seen.baseUrl}/api/v1/operator/gateways.`,
    )
  return fail(`${url}: ${PROBLEMS[answer.problem]}.${others}`, wayToEdge(answer.problem, url))
}

function wayToEdge(problem: Problem, url: string): string {
  const { hostname, origin, port } = new URL(url)
  switch (problem) {
    case 'unresolved':
      return `Create a DNS record for ${hostname} that points at the gateways; dig +short ${hostname} must answer.`
    case 'refused':
      return `Start the gateway that listens at ${origin}, or correct the DNS record of ${hostname} (dig +short ${hostname}).`
    case 'unreachable':
      return `Allow connections to ${origin} in the firewall, or correct the DNS record of ${hostname} (dig +short ${hostname}).`
    case 'tls':
      return `Give the gateways a certificate for ${hostname} from a trusted CA; openssl s_client -connect ${hostname}:${port || 443} -servername ${hostname} shows the current one.`
    case 'timeout':
      return `Find out why there is no response: curl -v ${url}. If the gateway answers other paths, the application does not answer on its health path.`
    case 'broken':
      return `Find out what answers instead of a gateway: curl -v ${url}.`
  }
}

function applicationReached(seen: Observations): CheckResult {
  const { fail, pass, warn } = resultsOf('application_reached')
  const { hasEdge, isSuspended, origin } = seen
  const [first] = seen.addresses
  if (isSuspended)
    return fail(
      'The tenant is suspended, so nothing reaches the application.',
      `Ask the operator to activate it: POST ${operatorUrlOf(seen)}/activate.`,
    )
  if (first === undefined)
    return fail('There is no address to check.', 'Make hostname_routed pass first.')
  const { url, answer, isCarried } = first
  if (hasEdge && !isCarried)
    return fail(
      `${url} does not go through a gateway, so it is unclear whether the application answers there.`,
      'Make hostname_routed pass first.',
    )
  const lost = notThroughConnectors(seen, answer)
  if (lost !== undefined) return fail(lost.detail, lost.nextAction)
  if (answer.kind === 'unanswered')
    return fail(`${url}: ${PROBLEMS[answer.problem]}.`, wayToApplication(seen, url))
  if (answer.status === 502 || answer.status === 504)
    return fail(
      `${url} answers ${answer.status}: there is no answer from the application at ${origin}.`,
      `Start the application and try curl -v ${origin}${seen.health} from the machine of the gateway.`,
    )
  const detail = `The application answers ${answer.status} at ${url}.`
  const clock = clockOf(answer)
  if (clock === undefined) return pass(detail)
  return warn(`${detail} ${describeClock(clock)}`, whatToDoAboutTheClock(clock, hasEdge))
}

function wayToApplication({ origin, health }: Observations, url: string): string {
  return `Start the application, and make it answer here within 5 seconds: curl -v ${url} (the origin is ${origin}, the health path ${health}).`
}

const SEALED_SHOWN_MAX = 7

function sealedHidden({ sealed, hasEdge, addresses }: Observations): CheckResult {
  const { fail, pass, skip } = resultsOf('sealed_hidden')
  if (sealed === undefined) return skip('Protection is off, so sealed paths are still open.')
  if (sealed.length === 0) return skip('The tenant has no sealed paths.')
  const open = sealed.filter(({ answer }) => statusOf(answer) !== 404)
  const [first] = open
  if (first === undefined)
    return pass(`Sealed paths answer 404, under other names too (${sealed.length} tried).`)
  const shown = open.slice(0, SEALED_SHOWN_MAX)
  const more = open.length > shown.length ? `, and ${open.length - shown.length} more` : ''
  const found = shown.map(({ path, answer }) => `${path} (${describe(answer)})`).join(', ') + more
  const base = addresses[0] === undefined ? '' : new URL(addresses[0].url).origin
  return fail(
    `These do not return 404: ${found}.`,
    hasEdge
      ? `Make hostname_routed pass, then try curl -i ${base}${first.path}: it must answer 404 as soon as every gateway has applied the newest revision.`
      : `Make feed_polled pass, and mount enforce() in front of the routes under ${first.path}: curl -i ${base}${first.path} must answer 404.`,
  )
}

function describe(answer: Observations['addresses'][number]['answer']): string {
  return answer.kind === 'answered' ? String(answer.status) : PROBLEMS[answer.problem]
}

const unreachable = (check: string) =>
  resultsOf(check).fail(
    'The application could not be reached.',
    'Make application_reached pass first.',
  )
