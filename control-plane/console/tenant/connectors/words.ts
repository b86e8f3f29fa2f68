/** Connectors in words: their states, why one does not reach its application, what has become of it. */
import type { ConnectorStatus } from '../../../connectors/connector-status.ts'
import type { ConnectorOutcome } from '../../../connectors/presence-events.ts'

const EVENTS: Readonly<Record<ConnectorOutcome, string>> = {
  connector_joined: 'Connector joined',
  connector_connected: 'Connector connected',
  connector_unreachable: 'Application not reachable',
  connector_stopped: 'Connector stopped',
  connector_lost: 'Connector lost',
  connector_left: 'Connector left',
  connector_revoked: 'Connector revoked',
}

const REASONS: Readonly<Record<string, string>> = {
  refused: 'the application refuses connections',
  timeout: 'the application did not answer in time',
  unresolved: "the application's name has no address",
  unreachable: 'no route to the application',
  application_reached: 'the application is reachable again',
}

const SHORT: Readonly<Record<string, string>> = {
  refused: 'Connection refused',
  timeout: 'Timeout',
  unresolved: 'Name not found',
  unreachable: 'No route',
}

export const shortReason = (reason: string): string =>
  Object.hasOwn(SHORT, reason) ? (SHORT[reason] ?? reason) : reason

export const connectorEventText = (outcome: string): string | undefined =>
  Object.hasOwn(EVENTS, outcome) ? EVENTS[outcome as ConnectorOutcome] : undefined

export const connectorReasonText = (reason: string): string | undefined =>
  Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined

export const STATES: Readonly<Record<ConnectorStatus['state'], string>> = {
  connected: 'Connected',
  unreachable: 'Unreachable',
  draining: 'Stopping',
  disconnected: 'Not connected',
}
