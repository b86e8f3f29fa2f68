/** What verification has seen of a tenant, before anybody says what it means. */
import type { ConnectorStatus } from '../connectors/connector-status.ts'
import type { Answer } from './probe-client.ts'

export interface KeyObservation {
  readonly kid: string
  readonly isCurrent: boolean
  readonly nonce: string
  readonly genuine: Answer
  readonly forged: Answer
}

interface AddressObservation {
  readonly url: string
  readonly answer: Answer
  /** The answer proves that our gateway carried the request. */
  readonly isCarried: boolean
}

/** One middleware of an application in sdk mode, as its last poll showed it. */
export interface InstanceObservation {
  /** What it calls itself, or '' where it does not say. */
  readonly instance: string
  readonly sdkVersion: string
  readonly polledAgoMs: number
  /** Whether its last poll gave it, or found it with, the state that holds now. */
  readonly hasNewestState: boolean
  /** As it measured itself; undefined where it has not said. */
  readonly clockAheadMs: number | undefined
}

export interface FeedObservation {
  readonly instances: readonly InstanceObservation[]
  /** How long an instance waits between two polls. */
  readonly pollAfterMs: number
}

/** In connector mode: one that may dial in, and what the gateways say of it. */
export type ConnectorObservation = Pick<ConnectorStatus, 'name' | 'state' | 'reason'>

export interface Observations {
  readonly tenantId: string
  readonly baseUrl: string
  /** In sdk mode requests reach the application without an edge. */
  readonly hasEdge: boolean
  readonly isSuspended: boolean
  readonly origin: string
  /** undefined in other modes. */
  readonly connectors: readonly ConnectorObservation[] | undefined
  readonly health: string
  /** Hostnames that were left out, since a person waits for this. */
  readonly unaskedAddresses: number
  /** The first one is the address that the other observations were made at. */
  readonly addresses: readonly AddressObservation[]
  readonly keys: readonly KeyObservation[]
  /** undefined where an edge enforces, and nobody polls. */
  readonly feed: FeedObservation | undefined
  /** undefined while protection is off, when sealed paths are open by design. */
  readonly sealed: readonly { readonly path: string; readonly answer: Answer }[] | undefined
}

export const keysUrlOf = ({ baseUrl, tenantId }: Pick<Observations, 'baseUrl' | 'tenantId'>) =>
  `${baseUrl}/tenants/${tenantId}/public-key`

export const consoleUrlOf = ({ baseUrl, tenantId }: Pick<Observations, 'baseUrl' | 'tenantId'>) =>
  `${baseUrl}/console/tenants/${tenantId}`

export const operatorUrlOf = ({ baseUrl, tenantId }: Pick<Observations, 'baseUrl' | 'tenantId'>) =>
  `${baseUrl}/api/v1/operator/tenants/${tenantId}`

export const statusOf = (answer: Answer | undefined) =>
  answer?.kind === 'answered' ? answer.status : undefined
