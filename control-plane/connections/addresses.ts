/** Where a provider sends people back to. One for each connection: an answer to one is none to another. */
import { issuerOf } from '../../shared/issuer.ts'
import type { Connection } from './connections.ts'

type Named = Pick<Connection, 'tenantId' | 'connectionId'>

export const connectionUrlOf = (baseUrl: string, { tenantId, connectionId }: Named) =>
  `${issuerOf(baseUrl, tenantId)}/connections/${connectionId}`

export const callbackUrlOf = (baseUrl: string, connection: Named) =>
  `${connectionUrlOf(baseUrl, connection)}/callback`
