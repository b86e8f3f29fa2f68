/**
 * How the console, as a client, reaches the realm, which is in this very program: by the address
 * that the program listens on. The public one may only be known outside, behind a load balancer.
 */
import type { AddressInfo } from 'node:net'
import type { CustomFetch } from 'openid-client'

const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export function localFetch(baseUrl: string, address: () => AddressInfo): CustomFetch {
  return (url, options) => {
    const { address: host, port, family } = address()
    const near = EVERYWHERE[host] ?? host
    const origin = `http://${family === 'IPv6' ? `[${near}]` : near}:${port}`
    if (!url.startsWith(`${baseUrl}/`)) throw new Error('the realm of the console is elsewhere')
    return fetch(origin + url.slice(baseUrl.length), options as RequestInit)
  }
}
