/** A key that can be used, wherever it lies. */
import type { KeyStorage } from '../../../../shared/device/facts.ts'
import type { Sign } from '../signed.ts'

export interface OpenKey {
  readonly storage: KeyStorage
  readonly publicKey: { readonly kty: 'EC'; readonly crv: 'P-256'; x: string; y: string }
  /** Throws `KeyLost` where the key is gone for good. */
  readonly sign: Sign
}

/** The TPM is there, and this key is not its own: it was wiped, or it is another machine. */
export class KeyLost extends Error {}
