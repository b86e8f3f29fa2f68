/** Where the realm sends a browser once it has signed out there too: a page that says so. */
export const SIGNED_OUT = 'signed_out'

/** Of the tenant's own address, with or without a path behind it. */
export const signedOutUrl = (edgeUrl: string): string =>
  new URL(`/service/logout?${SIGNED_OUT}`, edgeUrl).href
