/** What a tool is given of a tenant that somebody has allowed it: the keys as they are now. */
import { PURPOSES } from '../keys/sealed-columns.ts'
import type { Vault } from '../keys/vault.ts'
import { findTenant, findTenantSecrets, type Tenant } from '../store/queries/tenants.ts'
import type { Change } from '../store/store.ts'

export interface HandedOut {
  readonly tenant: Tenant
  readonly analyzerKey: string
  /** In sdk mode alone: in the others it is the gateways' matter. */
  readonly clientSecret: string | undefined
}

/** Inside the change that writes down who gets it. */
export async function handOut(
  { queries }: Pick<Change, 'queries'>,
  vault: Pick<Vault, 'open'>,
  tenantId: string,
  withClientSecret: boolean,
): Promise<HandedOut | undefined> {
  const tenant = await findTenant(queries, tenantId)
  const secrets = await findTenantSecrets(queries, tenantId)
  if (tenant === undefined || secrets === undefined) return undefined
  const { analyzerKeySealed, clientSecretSealed } = secrets
  return {
    tenant,
    analyzerKey: vault.open(analyzerKeySealed, PURPOSES.analyzerKey({ tenantId })),
    clientSecret:
      withClientSecret && tenant.mode === 'sdk'
        ? vault.open(clientSecretSealed, PURPOSES.clientSecret({ tenantId }))
        : undefined,
  }
}
