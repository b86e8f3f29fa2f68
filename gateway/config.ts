/** The gateway's settings. With `main.ts` the only place that sees files and environment. */
import * as files from 'node:fs'
import { hostname } from 'node:os'
import type { Config, Listen } from '../shared/config/config.ts'
import { readSettings } from '../shared/config/settings.ts'

export interface GatewaySettings {
  readonly id: string
  readonly dataDir: string
  readonly listen: Listen
  readonly tlsListen: Listen | null
  readonly statusListen: Listen | null
  readonly workers: number
  readonly fleetUrl: string
  /** Of this gateway alone. */
  readonly fleetKey: string
  /** What it was until this start: opens what is on the disk. */
  readonly previousFleetKey: string | null
  readonly trustedProxies: readonly string[]
  readonly proxyProtocol: boolean
  /** The share of forwarded requests that get a line, from 0 to 1. */
  readonly accessLogSample: number
  readonly timeouts: Config['gateway']['timeouts']
}

export function loadGatewaySettings(args: readonly string[]): GatewaySettings {
  const { config, secrets } = readSettings({ args, environment: process.env, files })
  const { gateway } = config
  const id = gateway.id ?? defaultId()
  return {
    id,
    dataDir: `${config.data_dir}/gateway/${id}`,
    listen: gateway.listen,
    tlsListen: gateway.tls_listen,
    statusListen: gateway.status_listen,
    workers: gateway.workers,
    fleetUrl: gateway.control_plane,
    fleetKey: secrets.SERVICE_FLEET_KEY,
    previousFleetKey: process.env.SERVICE_FLEET_KEY_PREVIOUS || null,
    trustedProxies: gateway.trusted_proxies,
    proxyProtocol: gateway.proxy_protocol,
    accessLogSample: gateway.access_log.sample,
    timeouts: gateway.timeouts,
  }
}

/** Stable over restarts, as the name of its folder on this machine must be. */
function defaultId(): string {
  return (
    hostname()
      .replace(/[^A-Za-z0-9.-]/g, '-')
      .slice(0, 64) || 'gateway'
  )
}
