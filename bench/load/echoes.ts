/** Messages of 64 bytes that an application sends back, over WebSockets that stay open. */
import { freePort } from '../../test/support/ports.ts'
import { programPath } from '../peers/peer.ts'
import { start, type Running } from '../processes.ts'
import { USER_AGENT, type Ask } from '../sessions.ts'
import { askProgram, type LoadResult } from './load.ts'

export interface EchoesOrder {
  readonly port: number
  readonly asks: readonly Ask[]
  readonly userAgent: string
  readonly seconds: number
}

export async function startEcho(): Promise<Running> {
  const port = await freePort()
  return start(process.execPath, [programPath('echo.ts'), String(port)], { port })
}

export function runEchoes(
  { port }: Running,
  asks: readonly Ask[],
  seconds: number,
): Promise<LoadResult> {
  return askProgram(programPath('echo-clients.ts'), {
    port,
    asks,
    userAgent: USER_AGENT,
    seconds,
  } satisfies EchoesOrder)
}
