/**
 * The key that is our account, at every authority: gateways answer HTTP-01 with its thumbprint, and
 * with one for all of them nobody has to be told when orders go to another authority. A signature
 * names the address that it is for (RFC 8555 section 6.4), so that it counts nowhere else.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { factPurpose } from '../keys/master-key.ts'
import type { Vault } from '../keys/vault.ts'
import { eq } from '../store/drizzle.ts'
import { schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { thumbprintOf } from './client.ts'

const FACT = 'acme_account_key'

export interface AcmeAccount {
  readonly key: KeyObject
  readonly thumbprint: string
}

/** Made by whoever asks first; all control planes of a database have the same one. */
export async function openAccountKey(store: Store, vault: Vault): Promise<AcmeAccount> {
  const pem = await store.change(async ({ queries }) => {
    const [row] = await queries.select().from(schema.facts).where(eq(schema.facts.name, FACT))
    if (row !== undefined) return vault.open(row.value, factPurpose(FACT))
    const made = newKeyPem()
    const value = vault.seal(made, factPurpose(FACT))
    await queries.insert(schema.facts).values({ name: FACT, value })
    return made
  })
  const key = createPrivateKey(pem)
  return { key, thumbprint: await thumbprintOf(key) }
}

export function newKeyPem(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return String(privateKey.export({ format: 'pem', type: 'pkcs8' }))
}
