/** Where kinds of connections differ on the way: how a browser is sent off, and what its answer says. */
import type { ConnectionRow } from '../store/queries/connections.ts'
import type { Connection } from './connections.ts'
import type { Claims } from './gate.ts'

/** With the secret by which we are known there. */
type AskedConnection = Connection & { readonly clientSecret: string }

/** What belongs to one flow in one browser. */
interface Flow {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

interface Answer {
  readonly code: string
  /** RFC 9207. */
  readonly issuer: string | undefined
}

export interface ConnectionProtocol {
  authorizationUrl(
    connection: AskedConnection,
    redirectUri: string,
    flow: Flow,
    /** Whoever has a session there proves it anew. */
    isConfirmation: boolean,
  ): Promise<string>
  /** What is true of whoever came back; a `ProviderProblem` where nothing is. */
  claimsFor(
    connection: AskedConnection,
    redirectUri: string,
    answer: Answer,
    flow: Flow,
  ): Promise<Claims>
}

export function protocolByKind(
  kinds: Readonly<Record<ConnectionRow['preset'], ConnectionProtocol>>,
): ConnectionProtocol {
  return {
    authorizationUrl: (connection, ...rest) =>
      kinds[connection.preset].authorizationUrl(connection, ...rest),
    claimsFor: (connection, ...rest) => kinds[connection.preset].claimsFor(connection, ...rest),
  }
}
