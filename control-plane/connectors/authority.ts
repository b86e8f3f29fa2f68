/**
 * The key of the whole installation that lists of gateways are signed with. A connector learns its
 * public half when it joins and believes no other, so a list can come from anywhere.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { CompactSign } from 'jose'
import { GATEWAY_LIST_TYPE, type GatewayList } from '../../shared/connector/requests.ts'
import type { Vault } from '../keys/vault.ts'
import { eq } from '../store/drizzle.ts'
import { schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

const FACT = 'connector_authority'
const PURPOSE = 'facts.connector_authority'

export type Authority = ReturnType<typeof createAuthority>

export function createAuthority({ store, vault }: { store: Store; vault: Vault }) {
  let known: Promise<KeyObject> | undefined

  /** Made when it is first asked for. */
  const open = (): Promise<string> =>
    store.change(async ({ queries }) => {
      const named = eq(schema.facts.name, FACT)
      const [row] = await queries.select().from(schema.facts).where(named)
      if (row !== undefined) return vault.open(row.value, PURPOSE)
      const { privateKey } = generateKeyPairSync('ed25519')
      const pem = String(privateKey.export({ format: 'pem', type: 'pkcs8' }))
      await queries.insert(schema.facts).values({ name: FACT, value: vault.seal(pem, PURPOSE) })
      return pem
    })

  function key(): Promise<KeyObject> {
    known ??= open().then(createPrivateKey)
    known.catch(() => (known = undefined))
    return known
  }

  return {
    /** 32 bytes in base64url. */
    publicKey: async (): Promise<string> => (await key()).export({ format: 'jwk' }).x ?? '',
    async sign(list: GatewayList): Promise<string> {
      return new CompactSign(Buffer.from(JSON.stringify(list)))
        .setProtectedHeader({ alg: 'EdDSA', typ: GATEWAY_LIST_TYPE })
        .sign(await key())
    },
  }
}
