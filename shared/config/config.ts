/**
 * The settings of all programs, from one YAML text and the environment. Pure: the programs read
 * the file and hand in its text. A mistake is one line that names path, value and wish.
 */
import * as v from 'valibot'
import { parseDocument } from 'yaml'
import { HOSTNAME } from '../hosts.ts'
import { nearest } from '../nearest.ts'
import { LOG_LEVELS } from '../log.ts'
import { parseNetwork } from '../networks.ts'
import { withoutTrailing } from '../trailing.ts'

export interface Listen {
  readonly host: string
  readonly port: number
}

/** `127.0.0.1:8080`, `[::1]:8080`, `localhost:0`. */
function parseListen(value: string): Listen | undefined {
  const match = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(value)
  const port = Number(match?.[2])
  if (match?.[1] === undefined || port > 65535) return undefined
  return { host: match[1].replace(/^\[|\]$/g, ''), port }
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const

/** `250ms`, `10s`, `5m`, `1h`. */
function parseDurationMs(value: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h)$/.exec(value)
  return match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : undefined
}

function isHttpBase(value: string): boolean {
  return isHttpAddress(value) && new URL(value).pathname === '/'
}

/** Without a name, a password or a query: those would end in logs. */
function isHttpAddress(value: string): boolean {
  if (!URL.canParse(value)) return false
  const url = new URL(value)
  const isBare = url.search === '' && url.hash === '' && url.username === '' && url.password === ''
  return isBare && /^https?:$/.test(url.protocol)
}

function read<T>(wish: string, parse: (value: string) => T | undefined) {
  return v.pipe(
    v.string(wish),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const parsed = parse(dataset.value)
      if (parsed !== undefined) return parsed
      addIssue({ message: wish })
      return NEVER
    }),
  )
}

const listen = read('host:port', parseListen)
const connectAddress = read('host:port, as connectors reach it', (value) => {
  const address = parseListen(value)
  return address === undefined || address.port === 0 ? undefined : value
})
const duration = read('a duration like 10s, 250ms or 5m', parseDurationMs)
const httpBase = read('an http:// or https:// address without a path', (value) =>
  isHttpBase(value) ? withoutTrailing(value, '/') : undefined,
)
/** One, or several that share a database. */
const CONTROL_PLANES_MAX = 16
const fleetAddresses = v.lazy((given) =>
  Array.isArray(given)
    ? v.pipe(
        v.array(httpBase),
        v.minLength(1, 'at least one address'),
        v.maxLength(CONTROL_PLANES_MAX, `at most ${CONTROL_PLANES_MAX} addresses`),
      )
    : v.pipe(
        httpBase,
        v.transform((one) => [one]),
      ),
)
/** One, or several: the next is asked where one cannot. */
const AUTHORITIES_MAX = 5
const directory = read('an https:// address of an ACME directory', (value) =>
  isHttpAddress(value) && value.startsWith('https:') ? value : undefined,
)
const directories = v.lazy((given) =>
  Array.isArray(given)
    ? v.pipe(
        v.array(directory),
        v.minLength(1, 'at least one address'),
        v.maxLength(AUTHORITIES_MAX, `at most ${AUTHORITIES_MAX} addresses`),
      )
    : v.pipe(
        directory,
        v.transform((one) => [one]),
      ),
)
const domain = read('a domain like example.com', (value) =>
  HOSTNAME.test(value) && value.includes('.') ? value : undefined,
)
const NAME_SERVERS_MAX = 8
const WILDCARDS_MAX = 20
const domains = (max: number) =>
  v.pipe(v.array(domain, 'a list of domains'), v.maxLength(max, `at most ${max} domains`))
const mailAddress = read('an address like ops@example.com', (value) =>
  /^[^\s<>@]+@[^\s<>@]+$/.test(value) ? value : undefined,
)
const profile = read('the name of a profile', (value) =>
  /^[\w.-]{1,64}$/.test(value) ? value : undefined,
)
const edgeUrl = read('an http:// or https:// address with {hostname} in it', (value) =>
  value.includes('{hostname}') && isHttpBase(value.replace('{hostname}', 'a.example'))
    ? withoutTrailing(value, '/')
    : undefined,
)
const database = read('sqlite or postgres://…', (value) =>
  value === 'sqlite' || /^postgres(?:ql)?:\/\//.test(value) ? value : undefined,
)
const cidrs = v.array(
  read('an address or CIDR like 10.0.0.0/8', (value) =>
    parseNetwork(value) === undefined ? undefined : value,
  ),
  'a list of addresses',
)
const whole = (min: number, max: number) => {
  const wish = `a whole number from ${min} to ${max}`
  return v.pipe(v.number(wish), v.integer(wish), v.minValue(min, wish), v.maxValue(max, wish))
}
const share = v.pipe(
  v.number('a number from 0 to 1'),
  v.minValue(0, 'a number from 0 to 1'),
  v.maxValue(1, 'a number from 0 to 1'),
)
export const GATEWAY_ID = /^[A-Za-z0-9][A-Za-z0-9.-]{0,63}$/
const gatewayId = read('letters, digits, dots and dashes, at most 64', (value) =>
  GATEWAY_ID.test(value) ? value : undefined,
)

const sender = read(
  'an address like no-reply@example.com or Name <no-reply@example.com>',
  (value) =>
    /^(?:[^<>@"\p{Cc}]{1,100} <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u.test(value)
      ? value
      : undefined,
)
/** What it speaks, not whose it is: many servers speak as OpenAI's does. */
const AI_PROVIDERS = ['anthropic', 'openai'] as const
const apiBase = read('an http:// or https:// address without a query', (value) =>
  isHttpAddress(value) ? withoutTrailing(value, '/') : undefined,
)
const modelName = read('the name of a model', (value) =>
  /^[\w./:@+-]{1,128}$/.test(value) ? value : undefined,
)
const fileName = v.pipe(v.string('a file name'), v.minLength(1, 'a file name'))

const logLevel = v.picklist(LOG_LEVELS, LOG_LEVELS.join(', ').replace(/, (?=\w+$)/, ' or '))

/** A section that is left out, or whose lines are all commented out (`gateway:`), has its defaults. */
const section = <T extends v.ObjectEntries>(entries: T) =>
  v.nullish(v.strictObject(entries, 'settings'), {} as never)

/** Where spans go, of both programs. */
const traces = section({
  endpoint: v.optional(v.nullable(httpBase), null),
  sample: v.optional(share, 0.01),
})

const ConfigSchema = v.strictObject(
  {
    base_url: v.optional(v.nullable(httpBase), null),
    data_dir: v.optional(v.pipe(v.string('a folder'), v.minLength(1, 'a folder')), './data'),
    control_plane: section({
      listen: v.optional(listen, '127.0.0.1:8080'),
      tls_listen: v.optional(v.nullable(listen), null),
      tls_certificate: v.optional(v.nullable(fileName), null),
      fleet_listen: v.optional(listen, '127.0.0.1:8081'),
      shared_fleet_key: v.optional(
        v.picklist(['local', 'anywhere', 'nowhere'], 'local, anywhere or nowhere'),
        'local',
      ),
      database: v.optional(database, 'sqlite'),
      trusted_proxies: v.optional(cidrs, []),
      proxy_protocol: v.optional(v.boolean('true or false'), false),
      log_level: v.optional(logLevel, 'info'),
      traces,
      acme: section({
        directory: v.optional(v.nullable(directories), null),
        email: v.optional(v.nullable(mailAddress), null),
        profile: v.optional(v.nullable(profile), null),
        dns: section({
          zone: v.optional(v.nullable(domain), null),
          servers: v.optional(domains(NAME_SERVERS_MAX), []),
          listen: v.optional(v.nullable(listen), null),
        }),
        wildcards: v.optional(domains(WILDCARDS_MAX), []),
      }),
    }),
    gateway: section({
      listen: v.optional(listen, '127.0.0.1:8000'),
      tls_listen: v.optional(v.nullable(listen), null),
      status_listen: v.optional(v.nullable(listen), null),
      connect_address: v.optional(v.nullable(connectAddress), null),
      workers: v.optional(whole(1, 256), 1),
      id: v.optional(v.nullable(gatewayId), null),
      control_plane: v.optional(v.nullable(fleetAddresses), null),
      plain_fleet_link: v.optional(v.boolean('true or false'), false),
      trusted_proxies: v.optional(cidrs, []),
      proxy_protocol: v.optional(v.boolean('true or false'), false),
      log_level: v.optional(logLevel, 'info'),
      access_log: section({ sample: v.optional(share, 1) }),
      traces,
      timeouts: section({
        head: v.optional(duration, '10s'),
        idle: v.optional(duration, '60s'),
        keep_alive: v.optional(duration, '75s'),
        connect: v.optional(duration, '5s'),
        first_byte: v.optional(duration, '30s'),
      }),
    }),
    mail: section({ from: v.optional(sender, 'no-reply@localhost') }),
    passwords: section({ breach_list: v.optional(v.nullable(fileName), null) }),
    edge_url: v.optional(v.nullable(edgeUrl), null),
    demo: section({
      listen: v.optional(listen, '127.0.0.1:9000'),
      connector_listen: v.optional(listen, '127.0.0.1:8443'),
    }),
    user_directory: section({ allow: v.optional(cidrs, []) }),
    webhooks: section({
      allow_private: v.optional(cidrs, []),
      egress_proxy: v.optional(v.nullable(httpBase), null),
    }),
    ai: section({
      provider: v.optional(v.nullable(v.picklist(AI_PROVIDERS, 'anthropic, openai or null')), null),
      base_url: v.optional(v.nullable(apiBase), null),
      model: v.optional(v.nullable(modelName), null),
      timeout: v.optional(duration, '120s'),
      input_characters: v.optional(whole(1000, 4_000_000), 400_000),
      output_tokens: v.optional(whole(500, 200_000), 16_000),
      tenant_tokens_per_day: v.optional(whole(0, 1_000_000_000), 500_000),
      tokens_per_day: v.optional(whole(0, 1_000_000_000_000), 5_000_000),
    }),
  },
  'settings',
)

type Written = v.InferOutput<typeof ConfigSchema>

/** With the addresses that follow from the listeners where they are not written down. */
export type Config = Omit<Written, 'base_url' | 'gateway'> & {
  readonly base_url: string
  readonly gateway: Omit<Written['gateway'], 'control_plane'> & {
    readonly control_plane: readonly string[]
  }
}

/** What is wrong with the settings, in one line that says what to do. */
export class ConfigError extends Error {
  constructor(line: string) {
    super(line)
    this.name = 'ConfigError'
  }
}

export function parseConfig(yamlText: string, fileName: string): Config {
  const document = parseDocument(yamlText, { prettyErrors: true })
  const mistake = document.errors[0]
  if (mistake !== undefined)
    throw new ConfigError(`${fileName}: not valid YAML: ${mistake.message.split('\n')[0]}`)
  const content: unknown = document.toJS() ?? {}
  if (Array.isArray(content)) throw new ConfigError(`${fileName}: expected settings, got a list`)
  const result = v.safeParse(ConfigSchema, content, { abortEarly: true })
  if (result.success) return withAddresses(checked(result.output, fileName))
  throw new ConfigError(`${fileName}: ${describe(result.issues[0])}`)
}

/** What no line is wrong by itself. */
function checked(written: Written, fileName: string): Written {
  const mistake = mistakeOfOwnTls(written) ?? mistakeOfDns(written.control_plane.acme)
  if (mistake !== undefined) throw new ConfigError(`${fileName}: ${mistake}`)
  const { connect_address: address, tls_listen: tls } = written.gateway
  if (address !== null && tls === null)
    throw new ConfigError(
      `${fileName}: gateway.connect_address: connectors arrive over TLS, so set gateway.tls_listen too`,
    )
  return written
}

function mistakeOfOwnTls({ base_url: base, control_plane: own }: Written): string | undefined {
  if (own.tls_listen === null) {
    if (own.tls_certificate === null) return undefined
    return 'control_plane.tls_certificate: it is shown by control_plane.tls_listen, so set that too'
  }
  if (base?.startsWith('https:') !== true)
    return 'control_plane.tls_listen: browsers come over TLS, so set base_url to https://…'
  if (own.tls_certificate === null && own.acme.directory === null)
    return 'control_plane.tls_listen: there is no certificate to show; set control_plane.acme.directory or control_plane.tls_certificate'
  return undefined
}

function mistakeOfDns({ directory, dns, wildcards }: Written['control_plane']['acme']) {
  const { zone, servers, listen } = dns
  if (zone === null) {
    const set = listen !== null || servers.length > 0 ? 'dns' : 'wildcards'
    if (set === 'wildcards' && wildcards.length === 0) return undefined
    return `control_plane.acme.${set}: certificates are proven by DNS in a zone of their own, so set control_plane.acme.dns.zone too`
  }
  if (directory === null)
    return 'control_plane.acme.dns.zone: nothing is ordered, so set control_plane.acme.directory too'
  if (servers.length === 0)
    return 'control_plane.acme.dns.servers: expected the name servers that the zone is delegated to'
  const inside = servers.find((server) => server === zone || server.endsWith(`.${zone}`))
  if (inside === undefined) return undefined
  return `control_plane.acme.dns.servers: ${inside} is inside of the zone, where no address of it is answered; expected a name outside`
}

/** Who moves a listener moves what points to it: a key is never sent to whoever took the old port. */
function withAddresses(written: Written): Config {
  const { control_plane: controlPlane, gateway } = written
  return {
    ...written,
    base_url: written.base_url ?? `http://${publicName(controlPlane.listen)}`,
    gateway: {
      ...gateway,
      control_plane: gateway.control_plane ?? [`http://${listenText(controlPlane.fleet_listen)}`],
    },
  }
}

/** A browser keeps one name for this machine, whichever of its own addresses is listened on. */
function publicName(listen: Listen): string {
  const isThisMachine = ['127.0.0.1', '0.0.0.0', '::1', '::', 'localhost'].includes(listen.host)
  return isThisMachine ? `localhost:${listen.port}` : listenText(listen)
}

function describe(issue: v.BaseIssue<unknown>): string {
  const path = (issue.path ?? []).map((item) => String((item as { key: unknown }).key))
  const where = path.join('.')
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    const setting = path.at(-1) ?? ''
    const guess = nearest(setting, knownSettings(path.slice(0, -1)))
    return `${where}: unknown setting${guess ? `, did you mean "${guess}"?` : ''}`
  }
  const got = issue.input === undefined ? 'nothing' : JSON.stringify(issue.input)
  return `${where === '' ? 'the file' : where}: expected ${issue.message}, got ${got}`
}

function knownSettings(path: readonly string[]): string[] {
  let schema: unknown = ConfigSchema
  for (const key of path) {
    const entries = (schema as { entries?: Record<string, { wrapped?: unknown }> }).entries
    schema = entries?.[key]?.wrapped
  }
  return Object.keys((schema as { entries?: object } | undefined)?.entries ?? {})
}

/** How browsers reach a tenant's hostname: `edge_url`, or what the gateway's listeners say. */
export function edgeUrlFor(config: Config, hostname: string): string {
  const template = config.edge_url ?? edgeTemplate(config)
  return template.replace('{hostname}', hostname)
}

function edgeTemplate({ gateway }: Config): string {
  if (gateway.tls_listen !== null) return 'https://{hostname}'
  return gateway.listen.port === 80
    ? 'http://{hostname}'
    : `http://{hostname}:${gateway.listen.port}`
}

export function listenText(listen: Listen): string {
  return listen.host.includes(':')
    ? `[${listen.host}]:${listen.port}`
    : `${listen.host}:${listen.port}`
}
