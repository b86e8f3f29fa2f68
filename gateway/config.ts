/** The gateway's settings. With `main.ts` the only place that sees files and environment. */
import * as files from 'node:fs'
import { hostname } from 'node:os'
import { readSettings } from '../shared/config/settings.ts'

export type GatewaySettings = ReturnType<typeof loadGatewaySettings>

export function loadGatewaySettings(args: readonly string[]) {
  const { config, secrets, environment } = readSettings(
    { args, environment: process.env, files },
    { secrets: ['SERVICE_FLEET_KEY'], areMade: true },
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
    /** Of this gateway alone. */
    fleetKey: secrets.SERVICE_FLEET_KEY,
    /** What it was until this start: opens what is on the disk. */
    previousFleetKey: environment['SERVICE_FLEET_KEY_PREVIOUS'] || null,
    trustedProxies: gateway.trusted_proxies as readonly string[],
    proxyProtocol: gateway.proxy_protocol,
    /** The share of forwarded requests that get a line, from 0 to 1. */
    accessLogSample: gateway.access_log.sample,
    timeouts: gateway.timeouts,
  }
}

/** A key whose file has changed is a key from the next start on, for all workers at once. */
export const workerEnvironment = ({ fleetKey }: GatewaySettings, worker: number) => ({
  SERVICE_GATEWAY_WORKER: String(worker),
  SERVICE_FLEET_KEY: fleetKey,
  SERVICE_FLEET_KEY_FILE: '',
})

/** Stable over restarts, as the name of its folder on this machine must be. */
function defaultId(): string {
  return (
    hostname()
      .replace(/[^A-Za-z0-9.-]/g, '-')
      .slice(0, 64) || 'gateway'
  )
}
