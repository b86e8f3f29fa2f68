/** A worker process: listens, serves, drains. Everything it knows comes from the primary. */
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { systemClock } from '../shared/clock.ts'
import { listenText } from '../shared/config.ts'
import type { GatewaySettings } from './config.ts'
import { createGateway } from './gateway.ts'
import { onLife, type FromPrimary, type FromWorker } from './lifecycle.ts'
import { clusterPrimaryPort } from './tenants/ports.ts'

const DRAIN_MS_MAX = 30_000

export async function runWorker(settings: GatewaySettings, log: Logger): Promise<void> {
  const tell = (message: FromWorker) => process.send?.(message)
  const port = clusterPrimaryPort(process)
  const gateway = createGateway({ settings, port, log, clock: systemClock })
  const listener = gateway.server.createListener()

  async function drain() {
    listener.close()
    setTimeout(() => process.exit(0), DRAIN_MS_MAX).unref()
    await gateway.server.drain()
    await gateway.close()
    log.flush()
    process.exit(0)
  }

  let isDraining = false
  const drainOnce = () => {
    if (isDraining) return
    isDraining = true
    void drain()
  }
  onLife<FromPrimary>(process, drainOnce)
  process.on('disconnect', drainOnce) // the primary is gone: nobody would tell us of a revocation
  process.on('SIGINT', () => {}) // Ctrl-C reaches the whole group; the primary decides
  process.on('SIGTERM', drainOnce)

  await gateway.ready
  listener.once('error', (error: NodeJS.ErrnoException) => {
    tell({ channel: 'life', type: 'failed', line: listenProblem(settings, error) })
  })
  const { host, port: number } = settings.listen
  listener.listen(number, host, () => {
    tell({ channel: 'life', type: 'listening', address: listener.address() as AddressInfo })
  })
}

function listenProblem({ listen }: GatewaySettings, error: NodeJS.ErrnoException): string {
  const reason = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${error.code})`
  return `${listenText(listen)} ${reason}: free it, or set gateway.listen in the config file`
}
