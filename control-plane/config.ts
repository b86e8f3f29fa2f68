/** The control plane's settings. With `main.ts` the only place that sees files and environment. */
import { createHmac } from 'node:crypto'
import * as files from 'node:fs'
import { ConfigError, edgeUrlFor, type Listen } from '../shared/config/config.ts'
import { checkedSecret, SECRET_NAMES, type SecretName } from '../shared/config/secrets.ts'
import { readSettings, type Settings } from '../shared/config/settings.ts'
import type { AcmeSettings } from './acme/authorities.ts'
import type { ExternalAccount } from './acme/client.ts'
import type { AiSettings } from './analysis/provider.ts'
import { createLiveKey, type LiveKey } from './keys/live-key.ts'
import type { MasterKeys } from './keys/master-key.ts'
import type { TraceSettings } from './tracing/tracing.ts'
import type { ReceiverWorld } from './webhooks/receiver-client.ts'

export interface ControlPlaneSettings extends MasterKeys {
  readonly baseUrl: string
  readonly dataDir: string
  readonly listen: Listen
  /** Over TLS, for browsers that come without a proxy; null: off. */
  readonly tlsListen?: Listen | null
  /** Shown there, instead of one that is ordered. */
  readonly tlsCertificateFile?: string | null
  readonly fleetListen: Listen
  readonly database: string
  /** Balancers in front, as CIDRs: they say who the client is. */
  readonly trustedProxies?: readonly string[]
  /** They say so with a PROXY header. */
  readonly proxyProtocol?: boolean
  readonly operatorKey: LiveKey
  readonly fleetKey: LiveKey
  readonly sharedFleetKey?: 'local' | 'anywhere' | 'nowhere'
  /** CIDRs where a tenant's database may be although such addresses are refused. */
  readonly directoryAddresses?: readonly string[]
  /** How webhooks are reached. */
  readonly receivers?: ReceiverWorld
  /** Who writes guides; null: nobody. */
  readonly ai?: AiSettings | null
  /** Who certificates are ordered from; null: nobody. */
  readonly acme?: AcmeSettings | null
  /** Where the zone of certificates is answered; null: not here. */
  readonly dnsListen?: Listen | null
  /** Where spans go; null: nowhere. */
  readonly traces?: TraceSettings | null
  readonly breachListFile: string | null
  readonly mailFrom: string
  /** Holds a password, as a rule; null: mails go to the mailbox. */
  readonly smtpUrl: string | null
  readonly edgeUrlFor: (hostname: string) => string
}

export function loadSettings(args: readonly string[], flags: readonly string[] = []): Settings {
  return handedOn(readSettings(worldOf(args), { secrets: SECRET_NAMES, areMade: true, flags }))
}

/** For what works beside the control plane, with what that has made. */
export function loadToolSettings<Name extends SecretName = never>(
  args: readonly string[],
  secrets: readonly Name[] = [],
  flags: readonly string[] = [],
): Settings<Name> {
  return handedOn(readSettings(worldOf(args), { secrets, areMade: false, flags }))
}

/** The driver of PostgreSQL looks for its password in the environment, and knows no files. */
function handedOn<Read extends Pick<Settings, 'environment'>>(settings: Read): Read {
  const { PGPASSWORD: password } = settings.environment
  if (password !== undefined) process.env['PGPASSWORD'] = password
  return settings
}

const worldOf = (args: readonly string[]) => ({ args, environment: process.env, files })

/** Once more, while the program runs: nothing is made, so a file that is gone is no new key. */
export const rereadSettings = (args: readonly string[]): Settings =>
  readSettings(worldOf(args), { secrets: SECRET_NAMES, areMade: false })

/** Answers which keys are others than before. */
export function replaceKeys(
  { operatorKey, fleetKey }: Pick<ControlPlaneSettings, 'operatorKey' | 'fleetKey'>,
  { secrets, previous }: Settings,
): readonly SecretName[] {
  const live = { SERVICE_OPERATOR_KEY: operatorKey, SERVICE_FLEET_KEY: fleetKey }
  return (['SERVICE_OPERATOR_KEY', 'SERVICE_FLEET_KEY'] as const).filter((name) =>
    live[name].replace(secrets[name], previous[name] ?? null),
  )
}

export function controlPlaneSettings({
  config,
  secrets,
  previous,
  environment,
}: Settings): ControlPlaneSettings {
  const live = (name: SecretName) => createLiveKey(secrets[name], previous[name] ?? null)
  return {
    baseUrl: config.base_url,
    dataDir: config.data_dir,
    listen: config.control_plane.listen,
    tlsListen: config.control_plane.tls_listen,
    tlsCertificateFile: config.control_plane.tls_certificate,
    fleetListen: config.control_plane.fleet_listen,
    database: config.control_plane.database,
    trustedProxies: config.control_plane.trusted_proxies,
    proxyProtocol: config.control_plane.proxy_protocol,
    operatorKey: live('SERVICE_OPERATOR_KEY'),
    fleetKey: live('SERVICE_FLEET_KEY'),
    sharedFleetKey: config.control_plane.shared_fleet_key,
    directoryAddresses: config.user_directory.allow,
    receivers: {
      allowPrivate: config.webhooks.allow_private,
      egressProxy: config.webhooks.egress_proxy,
    },
    ai: aiOf(config.ai, environment),
    acme: acmeOf(config, environment),
    dnsListen: config.control_plane.acme.dns.listen,
    traces: tracesOf(config.control_plane.traces),
    ...masterKeysOf(secrets.SERVICE_MASTER_KEY, environment),
    breachListFile: config.passwords.breach_list,
    mailFrom: config.mail.from,
    smtpUrl: smtpUrlOf(environment),
    edgeUrlFor: (hostname) => edgeUrlFor(config, hostname),
  }
}

/** Of a database that is there already, or was: its key is not made anew. */
export function recoverySettings(args: readonly string[]) {
  const { config, secrets, environment } = loadToolSettings(args, ['SERVICE_MASTER_KEY'])
  return {
    database: config.control_plane.database,
    dataDir: config.data_dir,
    ...masterKeysOf(secrets.SERVICE_MASTER_KEY, environment),
  }
}

const tracesOf = ({ endpoint, sample }: Settings['config']['control_plane']['traces']) =>
  endpoint === null ? null : { endpoint, sample }

/** The key is a secret, so it is no setting; a server of one's own may ask for none. */
function aiOf(
  ai: Settings['config']['ai'],
  { SERVICE_AI_KEY: key = '' }: Settings['environment'],
): AiSettings | null {
  const { provider, model, base_url: baseUrl } = ai
  if (provider === null) return null
  if (model === null)
    throw new ConfigError('ai.model: expected a model name, because ai.provider is set')
  if (key === '' && baseUrl === null)
    throw new ConfigError('SERVICE_AI_KEY: expected an API key for the provider in ai.provider')
  if (!/^[\x21-\x7e]*$/.test(key))
    throw new ConfigError('SERVICE_AI_KEY: expected printable ASCII characters, without spaces')
  return {
    provider,
    model,
    baseUrl,
    key: key === '' ? null : key,
    timeoutMs: ai.timeout,
    inputCharactersMax: ai.input_characters,
    outputTokensMax: ai.output_tokens,
    tenantTokensPerDay: ai.tenant_tokens_per_day,
    tokensPerDay: ai.tokens_per_day,
  }
}

/** `host=id:key` for each authority that wants to know whose account it is; the key in base64url. */
function acmeOf(
  config: Settings['config'],
  { SERVICE_ACME_EAB: accounts = '' }: Settings['environment'],
): AcmeSettings | null {
  const { directory: directories, email, profile, wildcards, dns } = config.control_plane.acme
  if (directories === null) return null
  if (!edgeUrlFor(config, 'a.example').startsWith('https:'))
    throw new ConfigError(
      'control_plane.acme: browsers reach gateways without TLS, so set gateway.tls_listen, or edge_url to https://{hostname}',
    )
  const byHost = new Map<string, ExternalAccount>()
  for (const account of accounts.split(/\s+/).filter((one) => one !== '')) {
    const [, host, keyId, hmacKey] = /^([^=:]+)=([\x21-\x7e]+):([\w-]+)=*$/.exec(account) ?? []
    if (host === undefined || keyId === undefined || hmacKey === undefined)
      throw new ConfigError(
        'SERVICE_ACME_EAB: expected host=key_id:hmac_key for each authority, separated by spaces',
      )
    byHost.set(host.toLowerCase(), { keyId, hmacKey })
  }
  const authorities = directories.map((directory) => ({
    directory,
    externalAccount: byHost.get(new URL(directory).hostname),
  }))
  const strange = [...byHost.keys()].find(
    (host) => !directories.some((directory) => new URL(directory).hostname === host),
  )
  if (strange !== undefined)
    throw new ConfigError(`SERVICE_ACME_EAB: no control_plane.acme.directory is at ${strange}`)
  const { zone: name, servers } = dns
  return { authorities, email, profile, wildcards, dns: name === null ? null : { name, servers } }
}

function smtpUrlOf({ SERVICE_SMTP_URL: url }: Settings['environment']): string | null {
  if (url === undefined || url === '') return null
  if (URL.canParse(url) && /^smtps?:\/\/[^/]/.test(url)) return url
  throw new ConfigError('SERVICE_SMTP_URL: expected smtps://user:password@host or smtp://host:port')
}

/** Where `npm start` says that the mailbox is; the key keeps others out. */
export function mailboxKey(operatorKey: string): string {
  return createHmac('sha256', operatorKey).update('mailbox').digest('base64url').slice(0, 22)
}

function masterKeysOf(secret: string, environment: Settings['environment']): MasterKeys {
  const other = (name: string) => {
    const given = environment[name] || undefined
    if (given === secret)
      throw new ConfigError(`${name}: expected another key than SERVICE_MASTER_KEY`)
    return given === undefined ? undefined : masterKeyOf(checkedSecret(name, given))
  }
  return {
    masterKey: masterKeyOf(secret),
    previousMasterKey: other('SERVICE_MASTER_KEY_PREVIOUS'),
    nextMasterKey: other('SERVICE_MASTER_KEY_NEXT'),
  }
}

/** Any secret of enough characters serves; the vault derives its keys from these bytes. */
function masterKeyOf(secret: string): Buffer {
  const bytes = Buffer.from(secret, 'utf8')
  return bytes.length >= 32 ? bytes : Buffer.concat([bytes, Buffer.alloc(32 - bytes.length)])
}
