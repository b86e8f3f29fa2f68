/** Where a person goes on from a sign-in that is over: never anywhere but registered addresses. */
import type { AdapterPayload } from 'oidc-provider'
import type { Realm } from './world.ts'

/** The application by the host that our own link named, or the tenant's first. */
export function applicationUrlOf(realm: Realm, host: unknown): string | undefined {
  const named = realm.applicationUrls.find((url) => new URL(url).host === host)
  return named ?? realm.applicationUrls[0]
}

/**
 * The same request to the realm once more. Who has signed in since it was made is not asked to do
 * so again, even where the request demanded a fresh sign-in. Times are whole seconds: within the
 * same one it is the sign-in page of this very request that must have been answered.
 */
export function authorizeAgainUrl(
  realm: Pick<Realm, 'issuer'>,
  { params = {}, iat = 0, result }: AdapterPayload,
  signedInAt: number | undefined,
): string {
  const url = new URL(`${realm.issuer}/authorize`)
  for (const [name, value] of Object.entries(params))
    if (typeof value === 'string') url.searchParams.set(name, value)
  const since = signedInAt === undefined ? -1 : signedInAt - iat
  if (since > 0 || (since === 0 && result?.login !== undefined)) {
    url.searchParams.delete('max_age')
    const prompts = (url.searchParams.get('prompt') ?? '').split(' ')
    const others = prompts.filter((prompt) => prompt !== 'login' && prompt !== '')
    if (others.length > 0) url.searchParams.set('prompt', others.join(' '))
    else url.searchParams.delete('prompt')
  }
  return url.href
}
