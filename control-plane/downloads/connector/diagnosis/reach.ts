/** The way to a host, part by part, so that the part that does not work can be named. */
import { lookup } from 'node:dns/promises'
import { isIP, type Socket } from 'node:net'
import {
  authorityOf,
  ConnectError,
  connectStraight,
  connectThrough,
} from '../../resident/connect.ts'
import type { Proxies, Target } from '../../resident/proxies.ts'
import type { Fault } from './finding.ts'

interface Reached {
  readonly socket: Socket
  /** Undefined: straight. */
  readonly proxy: URL | undefined
}

export async function reach(
  to: Target,
  proxies: Proxies,
  signal: AbortSignal,
): Promise<Reached | Fault> {
  const proxy = proxies(to)
  const fault = await unresolved(proxy === undefined ? to.host : hostOf(proxy), proxy, signal)
  if (fault !== undefined) return fault
  try {
    if (proxy === undefined) return { socket: await connectStraight(to, signal), proxy }
    return { socket: await connectThrough(proxy, to, signal), proxy }
  } catch (error) {
    return connectFault(to, proxy, error as Error)
  }
}

export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

export async function unresolved(
  host: string,
  proxy: URL | undefined,
  signal: AbortSignal,
): Promise<Fault | undefined> {
  if (isIP(host) !== 0) return undefined
  try {
    await inTime(lookup(host), signal)
    return undefined
  } catch (error) {
    const { code = 'timeout' } = error as NodeJS.ErrnoException
    return {
      cause: 'name',
      detail: `The name ${host}${proxy === undefined ? '' : ', the proxy of the environment,'} does not resolve (${code}).`,
      advice: 'Check the name, and the DNS servers of this machine.',
    }
  }
}

/** A resolver can take longer than anybody waits. */
const inTime = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('timeout')), { once: true }),
    ),
  ])

function connectFault(to: Target, proxy: URL | undefined, error: Error): Fault {
  const code = error instanceof ConnectError ? error.code : 'unreachable'
  const detail = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`
  if (proxy !== undefined)
    return {
      cause: 'proxy',
      detail,
      advice: /username/.test(error.message)
        ? 'Set HTTPS_PROXY=http://username:password@host:port, with the right ones.'
        : `Have the proxy allow CONNECT to ${authorityOf(to)}, or name a host that needs no proxy in NO_PROXY.`,
    }
  if (code === 'timeout')
    return {
      cause: 'silence',
      detail,
      advice: `Nothing comes back: allow outgoing TCP to ${authorityOf(to)} in the firewall, or set HTTPS_PROXY where a proxy is the way out.`,
    }
  const isRefused = error.message.includes('ECONNREFUSED')
  return {
    cause: 'port',
    detail,
    advice: isRefused
      ? `The machine is there and nothing listens on port ${to.port}: check that it runs, and the port.`
      : 'Check the network of this machine, and HTTPS_PROXY where a proxy is the way out.',
  }
}
