/** A port of this machine that no other machine reaches. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export const LOOPBACK = '127.0.0.1'

export interface LoopbackListener {
  readonly port: number
  /** With all that is under way. */
  close(): Promise<void>
}

/** Rejects where the port cannot be had. */
export async function listenOnLoopback(server: Server, port: number): Promise<LoopbackListener> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, LOOPBACK, () => {
      server.off('error', reject)
      server.on('error', () => undefined)
      resolve()
    })
  })
  return {
    port: portOf(server),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** Of one that listens. */
export const portOf = (server: Server): number => (server.address() as AddressInfo).port
