/**
 * The certificate of the fleet listener, the same at all control planes of a database and over all
 * replacements of keys: the keys of gateways name it.
 */
import { randomBytes } from 'node:crypto'
import { fingerprintOfCertificate } from '../../shared/fleet/trust.ts'
import { certificateFrom } from '../../shared/self-signed.ts'
import type { Store } from '../store/store.ts'
import { factOnce, factPurpose } from './master-key.ts'
import type { Vault } from './vault.ts'

const FACT = 'fleet_certificate'

export async function openFleetCertificate(store: Store, vault: Vault) {
  const sealed = await store.change(({ queries }) =>
    factOnce(queries, FACT, () =>
      vault.seal(randomBytes(32).toString('base64url'), factPurpose(FACT)),
    ),
  )
  const own = certificateFrom(vault.open(sealed, factPurpose(FACT)), 'certificate of the fleet')
  return { ...own, fingerprint: fingerprintOfCertificate(own) }
}
