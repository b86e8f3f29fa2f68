/** The two secrets of a tenant: sealed to be handed out again, hashed to be found by. */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { randomBytes } from 'node:crypto'
import type { Vault } from '../keys/vault.ts'

const SECRET_BYTES = 32

interface NewSecret {
  readonly plain: string
  readonly sealed: string
  readonly hash: string
}

/** The prefix says what it is to whoever finds it in a file, and to scanners for leaked secrets. */
export function newClientSecret(vault: Vault, tenantId: string): NewSecret {
  return make(vault, `scs_${random()}`, PURPOSES.clientSecret({ tenantId }))
}

export function newAnalyzerKey(vault: Vault, tenantId: string): NewSecret {
  return make(vault, `sak_${random()}`, PURPOSES.analyzerKey({ tenantId }))
}

function make(vault: Vault, plain: string, purpose: string): NewSecret {
  return { plain, sealed: vault.seal(plain, purpose), hash: vault.hash(plain) }
}

const random = () => randomBytes(SECRET_BYTES).toString('base64url')
