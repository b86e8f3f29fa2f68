/** All looks, in the order in which one depends on the other; the first that failed is at fault. */
import type { GatewayList } from '../../../../shared/connector/requests.ts'
import { Problem } from '../../command-line/exit.ts'
import { askRunning } from '../local/ask-running.ts'
import { readGatewayList, readStateDocument } from '../service/gateway-list.ts'
import type { Proxies } from '../../resident/proxies.ts'
import type { Service } from '../service/service.ts'
import type { Joined, StateFolder } from '../state/state-folder.ts'
import { lookAtApplication } from './application.ts'
import { lookAtControlPlane } from './control-plane.ts'
import { failed, found, noted, skipped, type Finding } from './finding.ts'
import { lookAtGateway } from './gateway.ts'

interface DiagnosisWorld {
  readonly state: Pick<StateFolder, 'path' | 'read' | 'readList'>
  /** Of a connector that has joined, or as the environment says; it may say nothing. */
  readonly baseUrlFor: (joined: Joined | null) => string | Problem
  readonly serviceAt: (baseUrl: string) => Pick<Service, 'state'>
  readonly proxies: Proxies
  /** Undefined: it has none. */
  readonly localPortOf: (joined: Joined) => Promise<number | undefined>
  readonly nowMs: () => number
}

const LOOK_MS_MAX = 10_000

export async function diagnose(world: DiagnosisWorld): Promise<Finding[]> {
  const { state, proxies, nowMs } = world
  const within = () => AbortSignal.timeout(LOOK_MS_MAX)
  const { joined, finding } = await lookAtState(world.state)
  const baseUrl = world.baseUrlFor(joined)
  if (typeof baseUrl !== 'string') {
    const about = { subject: 'control_plane', name: 'control plane' } as const
    return [finding, skipped(about, baseUrl.message)]
  }
  const connectorId = joined?.connector_id ?? 'con_unknown'
  const asking = { baseUrl, connectorId, proxies, nowMs, signal: within() }
  const controlPlane = await lookAtControlPlane(asking)
  if (joined === null) return [finding, ...controlPlane]

  const isThere = controlPlane[0]?.result === 'ok'
  const { list: told, finding: identity } = isThere
    ? await lookAtIdentity(joined, world.serviceAt(baseUrl), within())
    : { list: undefined, finding: skipped(IDENTITY, 'The control plane has to answer first.') }
  const list = told ?? (await keptList(joined, state))
  const [gateways, application, running] = await Promise.all([
    Promise.all(list.gateways.map((to) => lookAtGateway(to, proxies, within()))),
    lookAtApplication({ origin: joined.origin, ca: joined.origin_ca, nowMs, signal: within() }),
    world.localPortOf(joined).then((port) => lookAtRunning(port, joined)),
  ])
  return [finding, ...controlPlane, identity, ...gatewaysOr(gateways), application, running]
}

/** What stops requests comes first: while one gateway works, they need no other, and no control plane. */
export function atFault(findings: readonly Finding[]): Finding | undefined {
  const failures = findings.filter(({ result }) => result === 'failed')
  return failures.find((failure) => !isSpared(failure, findings)) ?? failures[0]
}

/** It has failed, and requests go on. */
export function isSpared({ subject }: Finding, findings: readonly Finding[]): boolean {
  const works = findings.some((one) => one.subject === 'gateway' && one.result === 'ok')
  return works && (subject === 'control_plane' || subject === 'clock' || subject === 'gateway')
}

async function lookAtState(
  state: DiagnosisWorld['state'],
): Promise<{ joined: Joined | null; finding: Finding }> {
  const about = { subject: 'state', name: `state folder ${state.path}` } as const
  try {
    const joined = await state.read()
    const finding =
      joined === null
        ? failed(about, {
            cause: 'not_joined',
            detail: 'No connector has joined here.',
            advice:
              'Make a join token on the Connectors page of your tenant, then: service-connector join --origin http://127.0.0.1:3000. If it has joined in another folder, name it with --state.',
          })
        : found(about, `Connector ${joined.connector_id} of ${joined.tenant_id}.`)
    return { joined, finding }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const [detail = '', ...advice] = error.lines
    const fault = { cause: 'folder', detail, advice: advice.join(' ') } as const
    return { joined: null, finding: failed(about, fault) }
  }
}

const IDENTITY = { subject: 'identity', name: 'key of this connector' } as const

async function lookAtIdentity(
  joined: Joined,
  service: Pick<Service, 'state'>,
  signal: AbortSignal,
): Promise<{ list: GatewayList | undefined; finding: Finding }> {
  try {
    const { connector_id: connectorId, key } = joined
    const answer = await service.state({ connectorId, key }, { signal })
    const list = readStateDocument(answer, joined)
    if (typeof list !== 'string') return { list, finding: found(IDENTITY, 'It is accepted.') }
    const fault = {
      cause: 'answer',
      detail: `The list of gateways that comes with it is not used: ${list}.`,
      advice: 'Something on the way may change answers. If not, leave and join again.',
    } as const
    return { list: undefined, finding: failed(IDENTITY, fault) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const isRefused = error.code === 'connector_refused'
    const fault = {
      cause: isRefused ? 'refused' : 'answer',
      detail: error.message,
      advice: isRefused
        ? 'The connector was revoked, or removed. To use it again: service-connector leave, then join with a new token.'
        : error.lines.slice(1).join(' '),
    } as const
    return { list: undefined, finding: failed(IDENTITY, fault) }
  }
}

async function keptList(
  joined: Joined,
  state: DiagnosisWorld['state'],
): Promise<Pick<GatewayList, 'gateways'>> {
  try {
    const document = await state.readList()
    const list = document === null ? '' : readGatewayList(document, joined)
    return typeof list === 'string' ? { gateways: [] } : list
  } catch (error) {
    if (error instanceof Problem) return { gateways: [] }
    throw error
  }
}

const gatewaysOr = (gateways: readonly Finding[]): readonly Finding[] =>
  gateways.length > 0
    ? gateways
    : [
        failed(
          { subject: 'gateway', name: 'gateways' },
          {
            cause: 'no_gateway',
            detail: 'No gateway is known that takes connectors.',
            advice: 'Ask the operator to set gateway.connect_address on the gateways.',
          },
        ),
      ]

async function lookAtRunning(port: number | undefined, joined: Joined): Promise<Finding> {
  const about = { subject: 'running', name: 'running connector' } as const
  if (port === undefined) return skipped(about, 'It has no local port to be asked on.')
  const answer = await askRunning(port)
  if (answer === 'nobody')
    return noted(about, `Nothing listens on port ${port}: the connector is not running.`)
  if (answer === 'stranger' || answer.connector_id !== joined.connector_id)
    return noted(about, `Port ${port} belongs to another program. Name its own with --local-port.`)
  return answer.is_ready
    ? found(about, answer.is_degraded ? 'It is ready, but not every link works.' : 'It is ready.')
    : noted(about, `It runs and is not ready: ${answer.detail}`)
}
