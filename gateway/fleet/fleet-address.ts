/** Whether what goes to the control plane can be read on its way. */
import { networkInterfaces } from 'node:os'
import { isLocalhost } from '../../shared/hosts.ts'
import { isLoopback } from '../../shared/networks.ts'

export const PLAIN_ADVICE =
  'gateway.control_plane is plain http to another machine: the key of this gateway and the secrets of ' +
  'every tenant can be read on the way; make a new key for this gateway (Fleet in the console, or ' +
  'POST /api/v1/operator/gateways), which brings TLS along, or set gateway.plain_fleet_link if a tunnel does'

export function isPlainToElsewhere(url: string, own: readonly string[]): boolean {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'http:') return false
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isLocalhost(host)) return false
  const isUnspecified = host === '0.0.0.0' || host === '::'
  return !isUnspecified && !isLoopback(host) && !own.includes(host)
}

export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
}
