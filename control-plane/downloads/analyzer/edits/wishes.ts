/** What the service wants of an application: said by the service itself, or by custom while offline. */

export interface Wishes {
  readonly mode: 'gateway' | 'connector' | 'sdk'
  readonly baseUrl: string
  /** Where the service has said whose key it is; otherwise a person has to fill it in. */
  readonly tenantId: string | null
  /** What the service publishes; null: not known here. */
  readonly publicKeyPem: string | null
  /** Where `service-node` comes from. */
  readonly sdkUrl: string
}

export type GuardName = 'verifyClaims' | 'enforce'

/** Behind an edge a signature is believed; without one the application enforces by itself. */
export function guardOf({ mode }: Pick<Wishes, 'mode'>): GuardName {
  return mode === 'sdk' ? 'enforce' : 'verifyClaims'
}
