/** The control plane put together, without sockets: what `app.ts` and the realms stand on. */
import type { Logger } from 'pino'
import type { Clock } from '../shared/clock.ts'
import { createPasswordHasher } from './accounts/passwords.ts'
import { createRevocations } from './accounts/revocations.ts'
import { createSessions } from './accounts/sessions.ts'
import { createUsers } from './accounts/users.ts'
import { createSigningKeys } from './keys/signing-keys.ts'
import { createVault } from './keys/vault.ts'
import type { Engine } from './store/sqlite.ts'
import { openStore } from './store/store.ts'
import { createCertificates } from './tenants/certificates.ts'
import { createFleetSource } from './tenants/fleet-source.ts'
import { createTenants } from './tenants/tenants.ts'

export interface ServicesWorld {
  readonly engine: Engine
  readonly masterKey: Buffer
  readonly baseUrl: string
  readonly edgeUrlFor: (hostname: string) => string
  readonly clock: Clock
  readonly log: Logger
}

export type Services = Awaited<ReturnType<typeof createServices>>

export async function createServices(world: ServicesWorld) {
  const { engine, masterKey, baseUrl, edgeUrlFor, clock, log } = world
  const store = await openStore(engine, clock)
  const vault = createVault(masterKey)
  const keys = createSigningKeys({ store, vault, clock })
  const tenants = createTenants({ store, vault, keys, clock, edgeUrlFor })
  const certificates = createCertificates({ store, vault })
  const passwords = createPasswordHasher()
  const users = createUsers({ store, passwords, clock })
  const sessions = createSessions({ store, clock })
  const revocations = createRevocations({ store })
  const fleetSource = createFleetSource({
    store,
    tenants,
    keys,
    certificates,
    revocations,
    baseUrl,
    edgeUrlFor,
  })

  return {
    clock,
    log,
    baseUrl,
    edgeUrlFor,
    store,
    vault,
    keys,
    tenants,
    certificates,
    passwords,
    users,
    sessions,
    revocations,
    fleetSource,
    close: () => store.close(),
  }
}
