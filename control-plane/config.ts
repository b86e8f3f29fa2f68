/** The control plane's settings. With `main.ts` the only place that sees files and environment. */
import { createHmac } from 'node:crypto'
import * as files from 'node:fs'
import { ConfigError, edgeUrlFor, type Listen } from '../shared/config.ts'
import { readSettings, type Settings } from '../shared/settings.ts'
import type { ReceiverWorld } from './webhooks/receiver-client.ts'

export interface ControlPlaneSettings {
  readonly baseUrl: string
  readonly dataDir: string
  readonly listen: Listen
  readonly fleetListen: Listen
  readonly database: string
  readonly operatorKey: string
  readonly fleetKey: string
  readonly masterKey: Buffer
  /** CIDRs where a tenant's database may be although such addresses are refused. */
  readonly directoryAddresses?: readonly string[]
  /** How webhooks are reached. */
  readonly receivers?: ReceiverWorld
  readonly breachListFile: string | null
  readonly mailFrom: string
  /** Holds a password, as a rule; null: mails go to the mailbox. */
  readonly smtpUrl: string | null
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
    directoryAddresses: config.user_directory.allow,
    receivers: {
      allowPrivate: config.webhooks.allow_private,
      egressProxy: config.webhooks.egress_proxy,
    },
    masterKey: masterKeyOf(secrets.SERVICE_MASTER_KEY),
    breachListFile: config.passwords.breach_list,
    mailFrom: config.mail.from,
    smtpUrl: smtpUrlOf(process.env),
    edgeUrlFor: (hostname) => edgeUrlFor(config, hostname),
  }
}

function smtpUrlOf({ SERVICE_SMTP_URL: url }: NodeJS.ProcessEnv): string | null {
  if (url === undefined || url === '') return null
  if (URL.canParse(url) && /^smtps?:\/\/[^/]/.test(url)) return url
  throw new ConfigError('SERVICE_SMTP_URL: expected smtps://user:password@host or smtp://host:port')
}

/** Where `npm start` says that the mailbox is; the key keeps others out. */
export function mailboxKey(operatorKey: string): string {
  return createHmac('sha256', operatorKey).update('mailbox').digest('base64url').slice(0, 22)
}

/** Any secret of enough characters serves; the vault derives its keys from these bytes. */
function masterKeyOf(secret: string): Buffer {
  const bytes = Buffer.from(secret, 'utf8')
  return bytes.length >= 32 ? bytes : Buffer.concat([bytes, Buffer.alloc(32 - bytes.length)])
}
