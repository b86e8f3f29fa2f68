/**
 * What gateways and middlewares are told of a tenant's machines. They cannot sign, and ask nobody while
 * a request waits: so the token that names a service to the application comes with it, made anew each
 * day, good for a week. RS256 makes the same bytes of the same claims, so a snapshot stays the same.
 */
import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { SECOND_MS } from '../../shared/clock.ts'
import type { EnforcedServices } from '../../shared/fleet/services.ts'
import { issuerOf } from '../../shared/issuer.ts'
import { LIMITS } from '../../shared/limits.ts'
import { PURPOSES } from '../keys/sealed-columns.ts'
import type { Vault } from '../keys/vault.ts'
import type { AccessRulesRow } from '../store/queries/access.ts'
import type { ServiceRow, ServiceSecretRow } from '../store/queries/services.ts'
import type { SigningKeyRow } from '../store/queries/signing-keys.ts'
import { rulesApart } from './service-rules.ts'
import { clientIdOf } from './tenants.ts'
import { fitClaims, payloadBytesMax } from './token-size.ts'

const IDENTITIES_KEPT_MAX = 10_000
const KEYS_KEPT_MAX = 1000

interface MachinesOfTenant {
  readonly services: readonly ServiceRow[]
  readonly secrets: readonly ServiceSecretRow[]
  readonly access: AccessRulesRow | undefined
  readonly keys: readonly SigningKeyRow[]
}

export type ServiceIdentities = ReturnType<typeof createServiceIdentities>

export function createServiceIdentities(world: {
  readonly vault: Pick<Vault, 'open'>
  readonly baseUrl: string
}) {
  const { vault, baseUrl } = world
  let made: LRUCache<string, string> | undefined // it takes all of its room at once
  const keys = new LRUCache<string, KeyObject>({ max: KEYS_KEPT_MAX })

  function keyOf(row: SigningKeyRow): KeyObject {
    const name = `${row.tenantId} ${row.kid}`
    const known = keys.get(name)
    if (known !== undefined) return known
    const key = createPrivateKey(vault.open(row.privatePemSealed, PURPOSES.signingKey(row)))
    keys.set(name, key)
    return key
  }

  function identityOf({ tenantId, serviceId, name, identityAt }: ServiceRow, row: SigningKeyRow) {
    const iat = Math.floor(identityAt / SECOND_MS)
    const known = `${tenantId} ${row.kid} ${serviceId} ${iat} ${name}`
    made ??= new LRUCache<string, string>({ max: IDENTITIES_KEPT_MAX })
    const text = made.get(known) ?? signed({ tenantId, serviceId, name, iat }, row)
    made.set(known, text)
    return text
  }

  function signed(
    {
      tenantId,
      serviceId,
      name,
      iat,
    }: Pick<ServiceRow, 'tenantId' | 'serviceId' | 'name'> & {
      readonly iat: number
    },
    row: SigningKeyRow,
  ): string {
    const head = { alg: 'RS256', kid: row.kid, typ: 'JWT' }
    const who = { sub: serviceId, client_id: serviceId, sid: serviceId, name }
    const times = { iat, exp: iat + LIMITS.serviceIdentitySeconds, auth_time: iat }
    const how = { amr: ['client_secret'] }
    const from = { iss: issuerOf(baseUrl, tenantId), aud: clientIdOf(tenantId) }
    // one that is too long would have gateways refuse all of its tenant's state
    const claims = { ...from, ...who, ...times, ...how }
    const fitting = fitClaims(claims, payloadBytesMax(head, row.publicJwk.n))
    const input = `${encoded(head)}.${encoded(fitting)}`
    return `${input}.${sign('sha256', Buffer.from(input), keyOf(row)).toString('base64url')}`
  }

  return {
    /** undefined: gateways are told nothing, as before there were any. */
    of({ services, secrets, access, keys: rows }: MachinesOfTenant): EnforcedServices | undefined {
      const current = rows.find(({ phase }) => phase === 'current')
      if (services.length === 0 || current === undefined) return undefined
      const byService = Map.groupBy(secrets, ({ serviceId }) => serviceId)
      const { clauses } = rulesApart(access?.content.rules ?? [])
      return {
        services: services.map((service) => ({
          service_id: service.serviceId,
          ...(service.isDisabled && { is_disabled: true }),
          identity: identityOf(service, current),
          secrets: (byService.get(service.serviceId) ?? []).map((secret) => ({
            secret_id: secret.secretId,
            hash: secret.secretHash,
            ends_at: Math.floor(secret.endsAt / SECOND_MS),
          })),
        })),
        ...(clauses.length > 0 && { clauses }),
      }
    },
  }
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
