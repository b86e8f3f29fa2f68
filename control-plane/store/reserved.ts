/** Realms of our own, which are no tenants: not listed, not served by gateways, not in the API. */

/** The accounts of operators and administrators, who sign in to the console with it. */
export const CONSOLE_REALM = 'console'

const RESERVED_TENANT_IDS: readonly string[] = [CONSOLE_REALM]

export const isReserved = (tenantId: string) => RESERVED_TENANT_IDS.includes(tenantId)
