/** What several control planes on one database (nodes) have to hear of each other. */
import type { Revoked } from '../../shared/fleet/snapshot.ts'

/** What one change tells the others. */
export interface News {
  readonly tenantIds: readonly string[]
  readonly revoked: ReadonlyMap<string, Revoked>
  /** Keys of gateways, and what all gateways are told beside tenants. */
  readonly isOfFleet: boolean
  /** Are no part of the fleet any more. */
  readonly removedGateways: readonly string[]
}

export interface LoggedNews extends News {
  /** Counts without gaps, in the order of commits. */
  readonly position: number
  readonly nodeId: string
}

/** How far a gateway has come, as the node says that it is connected to. */
export interface GatewayProgress {
  readonly gatewayId: string
  readonly revision: number
  readonly isDurable: boolean
  /** It enforces all that was revoked up to this position of the log. */
  readonly position: number
  readonly isRevokedDurable: boolean
  readonly rejected: readonly (readonly [tenantId: string, revision: number])[]
}

export interface OtherNode {
  readonly nodeId: string
  /** It has said so within the last seconds, by the clock of the database. */
  readonly isLive: boolean
  readonly gateways: readonly GatewayProgress[]
  /** Whatever a node shows of its gateways. */
  readonly status: readonly unknown[]
}
