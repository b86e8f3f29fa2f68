/** Whether a connection stays open for another request (RFC 9112 section 9.3), and how that is said. */
import type { ParsedHead } from '../wire/parsed-head.ts'
import type { Http1World } from './world.ts'

export function mayStayOpen(
  { keepsAlive }: ParsedHead,
  served: number,
  world: Http1World,
): boolean {
  return keepsAlive && world.drainGraceMs < 0 && served < world.limits.requestsPerConnectionMax
}

export function connectionLine({ isHttp10 }: ParsedHead, staysOpen: boolean): string {
  if (!staysOpen) return 'Connection: close\r\n'
  return isHttp10 ? 'Connection: keep-alive\r\n' : ''
}
