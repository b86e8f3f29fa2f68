/** A worker process: listens, serves, drains. Everything it knows comes from the primary. */
import type { AddressInfo, Server } from 'node:net'
import type { Logger } from 'pino'
import { SECOND_MS } from '../../shared/clock.ts'
import { listenText, type Listen } from '../../shared/config/config.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { GatewaySettings } from '../config.ts'
import { createGateway } from '../gateway.ts'
import { FleetClock } from './fleet-clock.ts'
import { onLife, type FromPrimary, type FromWorker } from './lifecycle.ts'
import { deriveCertificate } from '../../shared/self-signed.ts'
import { createPassing } from '../connectors/passing.ts'
import { createListeners } from '../listen/listeners.ts'
import type { LineSink, LineWriter } from '../telemetry/line-writer.ts'
import { createWorkerReporter } from '../telemetry/worker-report.ts'
import { clusterPrimaryPort } from '../fleet/ports.ts'

const DRAIN_MS_MAX = 30 * SECOND_MS
const DRAIN_GRACE_MS = SECOND_MS
const PRIMARY_LOOK_MS = 250

export async function runWorker(
  settings: GatewaySettings,
  log: Logger,
  lines: LineSink | LineWriter,
): Promise<void> {
  endWithPrimary()
  const tell = (message: FromWorker) => process.send?.(message)
  const port = clusterPrimaryPort(process)
  const passing = createPassing(process)
  const door = settings.connectAddress !== null && {
    ...deriveCertificate(settings.fleetKey),
    gatewayId: settings.id,
    worker: settings.worker,
    workers: settings.workers,
    passOn: passing.passOn,
  }
  const clock = new FleetClock()
  const gateway = createGateway({
    settings,
    port,
    log,
    clock,
    onCorrection: clock.correct,
    lines,
    ...(door && { door }),
  })
  if (door)
    passing.onPassed((socket, peerAddress) => gateway.server.acceptTls(socket, { peerAddress }))
  const reporter = createWorkerReporter(process, gateway.telemetry)
  const listeners = createListeners({
    settings,
    protocols: gateway.server,
    log,
    clock,
  })

  async function drain(graceMs: number) {
    setTimeout(() => process.exit(0), DRAIN_MS_MAX).unref()
    listeners.stop()
    void gateway.server.drain(graceMs)
    await listeners.settled() // they may hand over a last connection
    await gateway.server.drain(graceMs)
    await reporter.tell()
    await gateway.close()
    if ('close' in lines) await lines.close()
    log.flush()
    process.exit(0)
  }

  let isDraining = false
  function drainOnce(graceMs = DRAIN_GRACE_MS) {
    if (isDraining) return
    isDraining = true
    void drain(graceMs)
  }
  onLife<FromPrimary>(process, ({ graceMs }) => drainOnce(graceMs))
  process.on('SIGTERM', () => drainOnce())
  // Ctrl-C and a closing terminal reach the whole group; the primary decides
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

  await gateway.ready
  if (isDraining) return
  try {
    if (settings.tlsListen !== null)
      await listenAt(listeners.secure, settings.tlsListen, 'gateway.tls_listen')
    await listenAt(listeners.plain, settings.listen, 'gateway.listen')
    const address = listeners.plain.address() as AddressInfo
    tell({ channel: 'life', type: 'listening', address })
  } catch (error) {
    tell({ channel: 'life', type: 'failed', line: (error as Error).message })
  }
}

/**
 * Without its primary nobody tells it of a revocation. Cluster ends it with the channel, at once; but
 * while a socket is on its way over the channel, Node waits for the answer to that, and says nothing.
 */
function endWithPrimary(): void {
  setInterval(() => {
    if (!process.connected) process.exit(0)
  }, PRIMARY_LOOK_MS).unref()
}

/** Rejects with the line for the person who started us. */
function listenAt(server: Server, { host, port }: Listen, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = ({ code }: NodeJS.ErrnoException) => {
      const reason = code === 'EADDRINUSE' ? 'is already in use' : `could not be opened (${code})`
      const advice = `free it, or set ${setting} in the config file`
      reject(new Error(`${listenText({ host, port })} ${reason}; ${advice}`))
    }
    server.once('error', refuse)
    server.listen({ host, port, backlog: LIMITS.acceptBacklogMax }, () => {
      server.off('error', refuse)
      resolve()
    })
  })
}
