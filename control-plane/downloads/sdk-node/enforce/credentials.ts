/**
 * HTTP Basic with the client's secret; while it is rotated the other one is tried as well. Whatever
 * is asked or reported says which instance it is.
 */
import type { EnforceSettings } from './options.ts'

export type Credentials = ReturnType<typeof createCredentials>

export function createCredentials(
  settings: Pick<EnforceSettings, 'baseUrl' | 'tenantId' | 'secrets' | 'instance' | 'fetch'>,
) {
  const { baseUrl, tenantId, secrets, instance } = settings
  let accepted: string = secrets[0]

  function ask(secret: string, path: string, init: Parameters<Credentials['fetch']>[1]) {
    const basic = Buffer.from(`${tenantId}-user:${secret}`).toString('base64')
    const headers = {
      ...init.headers,
      authorization: `Basic ${basic}`,
      'x-service-instance': instance,
    }
    return settings.fetch(baseUrl + path, { ...init, headers, redirect: 'error' })
  }

  return {
    /** The secret that was accepted last. */
    get secret() {
      return accepted
    },
    /** Asks with the accepted secret first; a 401 is asked once more with the other. */
    async fetch(path: string, init: RequestInit & { headers: Record<string, string> }) {
      const answer = await ask(accepted, path, init)
      const other = secrets.find((secret) => secret !== accepted)
      // an address from which too many were refused is told to wait, whatever it brings
      const isRefused = answer.status === 401 || answer.status === 429
      if (!isRefused || other === undefined) return answer
      await answer.body?.cancel()
      const second = await ask(other, path, init)
      if (second.status < 400 || second.status === 409) accepted = other
      return second
    },
  }
}
