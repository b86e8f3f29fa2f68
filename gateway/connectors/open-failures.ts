/** Why there is no connection to an application behind a connector. */
import type { HopFailure, OpenFailure } from '../../shared/connector/messages.ts'
import { failure, type UpstreamFailure, type Way } from '../wire/upstream-call.ts'

export const FAILURES: Record<OpenFailure, UpstreamFailure> = {
  refused: failure('upstream_refused', 'the application refuses its connector'),
  timeout: failure(
    'upstream_connect_timeout',
    'the connector could not reach the application in time',
  ),
  unresolved: failure('upstream_unresolved', 'the connector finds no address of the application'),
  unreachable: failure('upstream_unreachable', 'the connector cannot reach the application'),
  tls: failure('upstream_tls_failed', 'TLS between connector and application failed'),
}
export const ABSENT = failure('connector_absent', 'no connector is connected')
export const BUSY = failure('upstream_busy', 'too many requests wait for a connector')

/** Of a gateway that connectors cannot reach: what stands as the application's address is a name and no more. */
export const NO_WAY: Way = {
  open: (opening) => void process.nextTick(() => opening.onFailed(ABSENT)),
  isCrowded: () => false,
  hasRoomFor: () => true,
  roomNow: () => () => true,
}

const FAILURE_OF: Record<HopFailure, UpstreamFailure> = { ...FAILURES, absent: ABSENT, busy: BUSY }

/** What another gateway is told, and what it makes of it. */
export const failureOf = (told: HopFailure): UpstreamFailure => FAILURE_OF[told]

export function toldOf({ code }: UpstreamFailure): HopFailure {
  const found = (Object.keys(FAILURE_OF) as HopFailure[]).find(
    (told) => FAILURE_OF[told].code === code,
  )
  return found ?? 'unreachable'
}
