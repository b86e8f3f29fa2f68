/** Where a provider sends people back to. One for each connection: an answer to one is none to another. */
import { issuerOf } from '../../shared/issuer.ts'
import type { Connection } from './connections.ts'

type Named = Pick<Connection, 'tenantId' | 'connectionId'>

export const connectionUrlOf = (baseUrl: string, { tenantId, connectionId }: Named) =>
  `${issuerOf(baseUrl, tenantId)}/connections/${connectionId}`

/** Where people come back to who have signed out there, too. */
export const signedOutUrlOf = (baseUrl: string, connection: Named) =>
  `${connectionUrlOf(baseUrl, connection)}/signed-out`

/** Where a provider says whom it has signed out. */
export const backChannelUrlOf = (baseUrl: string, connection: Named) =>
  `${connectionUrlOf(baseUrl, connection)}/back-channel-logout`

export const callbackUrlOf = (baseUrl: string, connection: Named) =>
  `${connectionUrlOf(baseUrl, connection)}/callback`

/** What a SAML connection is called, which is where it describes itself. */
export const entityIdOf = (baseUrl: string, connection: Named) =>
  `${connectionUrlOf(baseUrl, connection)}/metadata`

/** Where a SAML provider sends its responses. */
export const acsUrlOf = (baseUrl: string, connection: Named) =>
  `${connectionUrlOf(baseUrl, connection)}/acs`

/** What is entered at the provider. */
export const enteredUrlOf = (baseUrl: string, connection: Named & Pick<Connection, 'preset'>) =>
  connection.preset === 'saml' ? acsUrlOf(baseUrl, connection) : callbackUrlOf(baseUrl, connection)
