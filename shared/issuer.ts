/** Where a tenant's realm is, to the letter: in its tokens, its cookies' path and its pages. */
export const REALMS_PREFIX = '/auth/realms/'

export const realmPath = (tenantId: string): string => `${REALMS_PREFIX}${tenantId}`

export const issuerOf = (baseUrl: string, tenantId: string): string =>
  `${baseUrl.replace(/\/$/, '')}${realmPath(tenantId)}`
