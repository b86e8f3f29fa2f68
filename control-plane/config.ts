/** The control plane's settings. With `main.ts` the only place that sees files and environment. */
import * as files from 'node:fs'
import { edgeUrlFor, type Listen } from '../shared/config.ts'
import { readSettings, type Settings } from '../shared/settings.ts'

export interface ControlPlaneSettings {
  readonly baseUrl: string
  readonly dataDir: string
  readonly listen: Listen
  readonly fleetListen: Listen
  readonly database: string
  readonly operatorKey: string
  readonly fleetKey: string
  readonly masterKey: Buffer
  readonly breachListFile: string | null
  readonly edgeUrlFor: (hostname: string) => string
}

export function loadSettings(args: readonly string[], flags: readonly string[] = []): Settings {
  return readSettings({ args, environment: process.env, files }, flags)
}

export function controlPlaneSettings({ config, secrets }: Settings): ControlPlaneSettings {
  return {
    baseUrl: config.base_url,
    dataDir: config.data_dir,
    listen: config.control_plane.listen,
    fleetListen: config.control_plane.fleet_listen,
    database: config.control_plane.database,
    operatorKey: secrets.SERVICE_OPERATOR_KEY,
    fleetKey: secrets.SERVICE_FLEET_KEY,
    masterKey: masterKeyOf(secrets.SERVICE_MASTER_KEY),
    breachListFile: config.passwords.breach_list,
    edgeUrlFor: (hostname) => edgeUrlFor(config, hostname),
  }
}

/** Any secret of enough characters serves; the vault derives its keys from these bytes. */
function masterKeyOf(secret: string): Buffer {
  const bytes = Buffer.from(secret, 'utf8')
  return bytes.length >= 32 ? bytes : Buffer.concat([bytes, Buffer.alloc(32 - bytes.length)])
}
