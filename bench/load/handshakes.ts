/**
 * A request on each TLS connection, new or resuming the one before. By a program of our own: it comes
 * from many addresses, since no gateway lets one of them have all handshakes.
 */
import { programPath } from '../peers/peer.ts'
import type { Running } from '../processes.ts'
import { SECURE_HOST, USER_AGENT, type Ask } from '../sessions.ts'
import { askProgram, type LoadResult } from './load.ts'

export interface HandshakesOrder {
  readonly port: number
  readonly host: string
  readonly userAgent: string
  readonly cookies: readonly string[]
  readonly seconds: number
  readonly isResuming: boolean
}

export function runHandshakes(
  { tlsPort: port }: Running,
  asks: readonly Ask[],
  seconds: number,
  isResuming: boolean,
): Promise<LoadResult> {
  const cookies = asks.map(({ cookie }) =>
    cookie.replace(' service_seen=', ' __Host-service_seen='),
  )
  const order: HandshakesOrder = {
    port,
    host: SECURE_HOST,
    userAgent: USER_AGENT,
    cookies,
    seconds,
    isResuming,
  }
  return askProgram(programPath('handshakes.ts'), order)
}
