/**
 * How the console, as a client, reaches the realm, which is in this very program: by the address
 * that the program listens on. The public one may only be known outside, behind a load balancer.
 */
import type { AddressInfo } from 'node:net'
import type { CustomFetch } from 'openid-client'
import { Agent, buildConnector, fetch as fetchVia } from 'undici'
import { networkList } from '../../shared/networks.ts'

const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

interface LocalFetchSettings {
  readonly baseUrl: string
  readonly trustedProxies?: readonly string[] | undefined
  readonly proxyProtocol?: boolean | undefined
}

export function localFetch(
  { baseUrl, trustedProxies = [], proxyProtocol = false }: LocalFetchSettings,
  address: () => AddressInfo,
): CustomFetch {
  const isBalancer = networkList(proxyProtocol ? trustedProxies : [])
  const dispatcher = speakingForItself()
  return async (url, options) => {
    const { address: host, port, family } = address()
    const near = EVERYWHERE[host] ?? host
    const origin = `http://${family === 'IPv6' ? `[${near}]` : near}:${port}`
    if (!url.startsWith(`${baseUrl}/`)) throw new Error('the realm of the console is elsewhere')
    const there = origin + url.slice(baseUrl.length)
    if (!isBalancer(near)) return fetch(there, options as RequestInit)
    const answer = await fetchVia(there, { ...(options as object), dispatcher })
    return answer
  }
}

const connect = buildConnector({})

/** The listener takes this machine for a balancer, and waits for what one says first. */
function speakingForItself(): Agent {
  return new Agent({
    pipelining: 0, // a connection each, which ends with its answer
    connect(options, done) {
      connect(options, (error, socket) => {
        socket?.write('PROXY UNKNOWN\r\n')
        if (error === null) done(null, socket)
        else done(error, null)
      })
    },
  })
}
