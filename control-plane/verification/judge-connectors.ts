/** Why nothing came of a request in connector mode: which connector it is about, and what to do. */
import { consoleUrlOf, type ConnectorObservation, type Observations } from './observations.ts'
import type { Answer } from './probe-client.ts'

interface Lost {
  readonly detail: string
  readonly nextAction: string
}

const NAMED_MAX = 5

const WHY: Readonly<Record<string, string>> = {
  refused: 'refuses connections',
  timeout: 'does not answer in time',
  unresolved: 'has a name without an address',
  unreachable: 'cannot be reached from there',
}

/** undefined: another mode, or it is not for want of a connector. */
export function notThroughConnectors(seen: Observations, answer: Answer): Lost | undefined {
  const { connectors } = seen
  if (connectors === undefined) return undefined
  const status = answer.kind === 'answered' ? answer.status : 504
  const here = connectors.filter(({ state }) => state !== 'disconnected')
  if (status === 503 && here.length === 0) return noneHere(seen, connectors)
  if (status !== 502 && status !== 504) return undefined
  if (here.length === 0) return noneHere(seen, connectors)
  const worst = here.find(({ state }) => state === 'unreachable') ?? here[0]!
  const why = WHY[worst.reason ?? ''] ?? 'does not answer'
  return {
    detail: `The connector ${worst.name} is connected, but the application behind it ${why}.`,
    nextAction: `Start the application on ${worst.name}, at the address that was given to service-connector join --origin; service-connector diag, run there, says what it finds at that address.`,
  }
}

function noneHere(seen: Observations, joined: readonly ConnectorObservation[]): Lost {
  const page = `${consoleUrlOf(seen)}/connectors`
  const [first] = joined
  if (first === undefined)
    return {
      detail: 'No connector is connected: none has joined this tenant yet.',
      nextAction: `Create a join token at ${page}, then run on the machine of the application: service-connector join --origin http://127.0.0.1:3000 (with its own port), and service-connector run.`,
    }
  const names = joined
    .slice(0, NAMED_MAX)
    .map(({ name }) => name)
    .join(', ')
  const more = joined.length > NAMED_MAX ? `, and ${joined.length - NAMED_MAX} more` : ''
  const which = joined.length === 1 ? first.name : 'one of these machines'
  return {
    detail: `No connector is connected. Joined: ${names}${more}.`,
    nextAction: `Start the connector on ${which}: service-connector run. If it is already running, run service-connector diag there: it says what is wrong; ${page} shows when each was last seen.`,
  }
}
