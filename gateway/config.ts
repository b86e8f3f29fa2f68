/** The gateway's settings. With `main.ts` the only place that sees files and environment. */
import * as files from 'node:fs'
import { hostname } from 'node:os'
import { COMPILE_CACHE_FOLDER } from '../shared/compile-cache.ts'
import { readSettings } from '../shared/config/settings.ts'

export type GatewaySettings = ReturnType<typeof loadGatewaySettings>

/** `isFirst`: what is nowhere is made; of a program that runs, a key that is gone is no new key. */
export function loadGatewaySettings(args: readonly string[], isFirst = true) {
  const { config, secrets, previous, keyFiles } = readSettings(
    { args, environment: process.env, files },
    { secrets: ['SERVICE_FLEET_KEY'], areMade: isFirst },
  )
  const { gateway } = config
  const id = gateway.id ?? defaultId()
  return {
    id,
    dataDir: `${config.data_dir}/gateway/${id}`,
    listen: gateway.listen,
    tlsListen: gateway.tls_listen,
    statusListen: gateway.status_listen,
    workers: gateway.workers,
    /** Which of them this process is; the primary says so. */
    worker: Number(process.env['SERVICE_GATEWAY_WORKER'] ?? 1),
    /** How connectors reach `tlsListen`; null: not at all. */
    connectAddress: gateway.connect_address,
    fleetUrls: gateway.control_plane,
    /** Where something else keeps the link from others. */
    plainFleetLink: gateway.plain_fleet_link,
    /** Of this gateway alone. */
    fleetKey: secrets.SERVICE_FLEET_KEY,
    /** What it was before: opens what is on the disk. */
    previousFleetKey: previous.SERVICE_FLEET_KEY ?? null,
    keyFiles,
    logLevel: gateway.log_level,
    trustedProxies: gateway.trusted_proxies as readonly string[],
    proxyProtocol: gateway.proxy_protocol,
    /** The share of forwarded requests that get a line, from 0 to 1. */
    accessLogSample: gateway.access_log.sample,
    /** Where spans go; null: nowhere. */
    traces:
      gateway.traces.endpoint === null
        ? null
        : { endpoint: gateway.traces.endpoint, sample: gateway.traces.sample },
    timeouts: gateway.timeouts,
  }
}

/** A key whose file has changed is one once the primary goes by it, for all workers that it starts from then on. */
export const workerEnvironment = (fleetKey: string, worker: number) => ({
  SERVICE_GATEWAY_WORKER: String(worker),
  SERVICE_FLEET_KEY: fleetKey,
  SERVICE_FLEET_KEY_FILE: '',
  // said so early, not even the entrance is compiled anew
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? COMPILE_CACHE_FOLDER,
})

/** Stable over restarts, as the name of its folder on this machine must be. */
function defaultId(): string {
  return (
    hostname()
      .replace(/[^A-Za-z0-9.-]/g, '-')
      .slice(0, 64) || 'gateway'
  )
}
