/** Where kinds of connections differ on the way: how a browser is sent off, and what its answer says. */
import type { ConnectionRow } from '../store/queries/connections.ts'
import type { Connection } from './connections.ts'
import type { FlowSecrets, Proven, ProviderAnswer, SignOut, Wish } from './protocol.ts'

/** With the secret by which we are known there. */
type AskedConnection = Connection & { readonly clientSecret: string }

/** What belongs to one flow in one browser. */
type Flow = FlowSecrets & { readonly state: string }

export interface ConnectionProtocol {
  /** Where a browser is sent. */
  authorizationUrl(
    connection: AskedConnection,
    redirectUri: string,
    flow: Flow,
    wish: Wish,
  ): Promise<string>
  /** What is true of whoever came back; a `ProviderProblem` where nothing is. */
  claimsFor(
    connection: AskedConnection,
    redirectUri: string,
    answer: ProviderAnswer,
    flow: Flow,
  ): Promise<Proven>
}

/** Where a browser is sent that has signed out here; undefined: nowhere. */
interface SigningOut {
  signOutUrl(connection: AskedConnection, wish: SignOut): Promise<string | undefined>
}

export type ConnectionProtocols = ConnectionProtocol & SigningOut

export function protocolByKind(
  kinds: Readonly<Record<ConnectionRow['preset'], ConnectionProtocol & Partial<SigningOut>>>,
): ConnectionProtocols {
  return {
    authorizationUrl: (connection, ...rest) =>
      kinds[connection.preset].authorizationUrl(connection, ...rest),
    claimsFor: (connection, ...rest) => kinds[connection.preset].claimsFor(connection, ...rest),
    signOutUrl: async (connection, wish) => kinds[connection.preset].signOutUrl?.(connection, wish),
  }
}
