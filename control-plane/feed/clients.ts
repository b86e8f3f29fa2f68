/**
 * Who an application is, by its client id and client secret. The hashes that make a secret right
 * are kept with the state that it gets, and go with it; so a good poll costs one hash. Whatever is
 * not right by them is looked up once more, the same for a wrong secret as for a tenant that there
 * is not: neither the answer nor its time tells which of the two it was.
 */
import { TENANT_ID } from '../../shared/fleet/snapshot.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Vault } from '../keys/vault.ts'
import { findTenantSecrets, type Tenant } from '../store/queries/tenants.ts'
import type { Store } from '../store/store.ts'
import { isClientSecret, secretHashesOf } from '../tenants/client-secrets.ts'
import { clientIdOf } from '../tenants/tenants.ts'
import type { FeedStates } from './states.ts'

export type Clients = ReturnType<typeof createClients>

const SUFFIX = clientIdOf('')

export function createClients(world: {
  readonly store: Store
  readonly vault: Pick<Vault, 'hash'>
  readonly states: FeedStates
  readonly clock: Clock
}) {
  const { store, vault, states, clock } = world
  /** Right for nobody: no secret has this hash. */
  const nobody = { current: vault.hash(''), previous: undefined }

  return {
    async byClientSecret(clientId: string, clientSecret: string): Promise<Tenant | undefined> {
      const tenantId = clientId.endsWith(SUFFIX) ? clientId.slice(0, -SUFFIX.length) : ''
      const hash = vault.hash(clientSecret)
      const nowMs = clock.nowMs()
      const known = await states.known(tenantId)
      if (known !== undefined && isClientSecret(hash, known.secrets, nowMs)) return known.tenant

      // what no database would take as text is looked for all the same, as nobody
      const found = await findTenantSecrets(store.read, TENANT_ID.test(tenantId) ? tenantId : '')
      const isRight = isClientSecret(hash, found ? secretHashesOf(found) : nobody, nowMs)
      if (!isRight || found === undefined || clientSecret === '') return undefined
      return (await states.current(tenantId))?.tenant
    },
  }
}
