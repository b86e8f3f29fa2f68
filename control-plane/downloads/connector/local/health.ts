/**
 * Whether a request would reach the application, seen from the gateways: a link that is connected
 * and brings nothing through is none.
 */
import { LIMITS } from '../../../../shared/limits.ts'
import type { LinkStatus } from '../tunnel/tunnel.ts'

export const LINK_STATES = ['checked', 'checking', 'failing', 'silent', 'disconnected'] as const
type LinkState = (typeof LINK_STATES)[number]

interface LinkHealth {
  readonly worker: number
  readonly state: LinkState
  /** '' where all is well. */
  readonly problem: string
  readonly connections: number
  readonly in_use: number
  readonly reconnects: number
  readonly round_trip_ms: number | null
  /** Since a request would last have come through. */
  readonly checked_seconds_ago: number | null
}

interface GatewayHealth {
  readonly gateway_id: string
  readonly is_ready: boolean
  readonly links: readonly LinkHealth[]
}

const NOT_READY = {
  draining: 'The connector is stopping.',
  no_gateways: 'No gateway is known yet. The control plane names them.',
  not_connected: 'There is no connection to a gateway.',
  application: 'A gateway is connected and cannot reach the application.',
  no_answer: 'A gateway is connected, and no check has come through it recently.',
} as const
type NotReadyReason = keyof typeof NOT_READY

export interface Health {
  readonly is_ready: boolean
  /** Some link of a gateway that is ready does not work. */
  readonly is_degraded: boolean
  readonly reason: NotReadyReason | null
  /** The reason, for people; '' where it is ready. */
  readonly detail: string
  readonly gateways: readonly GatewayHealth[]
}

interface Observed {
  readonly gateways: readonly string[]
  readonly links: readonly LinkStatus[]
  readonly isDraining: boolean
  readonly nowMs: number
}

/**
 * Ready: a check has come through lately, and no link that is connected brings nothing through. A
 * gateway that is not connected takes requests over another one; a wedged link keeps those it gets.
 */
export function healthOf({ gateways: named, links, isDraining, nowMs }: Observed): Health {
  const gateways = named.map((gatewayId): GatewayHealth => {
    const own = links.filter(({ gateway }) => gateway === gatewayId)
    const judged = own.map((link) => linkHealth(link, nowMs))
    const states = judged.map(({ state }) => state)
    const isReady = states.includes('checked') && !states.some((state) => WEDGED.includes(state))
    return { gateway_id: gatewayId, is_ready: isReady, links: judged }
  })
  const states = gateways.flatMap((gateway) => gateway.links.map(({ state }) => state))
  const reason = isDraining ? 'draining' : named.length === 0 ? 'no_gateways' : reasonOf(states)
  const late = gateways.filter((gateway) => !gateway.is_ready)
  return {
    is_ready: reason === null,
    is_degraded: reason === null && states.some((state) => state !== 'checked'),
    reason,
    detail: reason === null ? '' : detailOf(reason, late),
    gateways,
  }
}

const WEDGED: readonly LinkState[] = ['failing', 'silent']

function reasonOf(states: readonly LinkState[]): NotReadyReason | null {
  // A failing application is the same for all of them, and the first thing to look at.
  if (states.includes('failing')) return 'application'
  if (states.includes('silent')) return 'no_answer'
  if (states.includes('checked')) return null
  return states.every((state) => state === 'disconnected') ? 'not_connected' : 'no_answer'
}

function detailOf(reason: NotReadyReason, late: readonly GatewayHealth[]): string {
  const said = late.flatMap(({ gateway_id: id, links }) => {
    const [problem] = links.map((link) => link.problem).filter((text) => text !== '')
    return problem === undefined ? [] : [`${id}: ${problem}`]
  })
  return [NOT_READY[reason], ...(reason === 'draining' ? [] : said)].join(' ')
}

function linkHealth(link: LinkStatus, nowMs: number): LinkHealth {
  const { worker, connections, inUse, reconnects, check } = link
  const state = stateOf(link, nowMs)
  const { reachedMs, roundTripMs } = check
  return {
    worker,
    state,
    problem: problemOf(state, link),
    connections,
    in_use: inUse,
    reconnects,
    round_trip_ms: roundTripMs === undefined ? null : Math.round(roundTripMs * 10) / 10,
    checked_seconds_ago:
      reachedMs === undefined ? null : Math.max(0, Math.round((nowMs - reachedMs) / 1000)),
  }
}

/** All of its connections were in use, or none was there yet: this says nothing of the application. */
export const NO_CONNECTION = 'no_connection'

function stateOf({ isConnected, check, inUse }: LinkStatus, nowMs: number): LinkState {
  if (!isConnected) return 'disconnected'
  if (check.problem !== '' && check.problem !== NO_CONNECTION) return 'failing'
  if (check.reachedMs === undefined) return 'checking'
  if (nowMs - check.reachedMs <= LIMITS.connectorCheckedMsMax) return 'checked'
  // As many requests as there may be leave nothing to check with, and are themselves what comes through.
  const isFull = check.problem === NO_CONNECTION && inUse >= LIMITS.connectorConnectionsMax
  return isFull ? 'checked' : 'silent'
}

const CHECK_PROBLEMS: Readonly<Record<string, string>> = {
  refused: 'the application refused the connection',
  timeout: 'the application did not take the connection in time',
  unresolved: 'the name of the application cannot be resolved',
  unreachable: 'the application cannot be reached',
  lost: 'the connection broke before it was used',
}

function problemOf(state: LinkState, { problem, check }: LinkStatus): string {
  switch (state) {
    case 'disconnected':
      return problem === '' ? 'not connected yet' : problem
    case 'failing':
      return CHECK_PROBLEMS[check.problem] ?? check.problem
    case 'checking':
      return 'no check has come through yet'
    case 'silent':
      return `no check has come through for ${LIMITS.connectorCheckedMsMax / 1000} seconds`
    case 'checked':
      return ''
  }
}
