/** The running control plane: services, the public listener, the fleet listener and the jobs. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Clock } from '../shared/clock.ts'
import { listenText, type Listen } from '../shared/config/config.ts'
import { isThisMachine } from '../shared/hosts.ts'
import { openBreachList } from './accounts/passwords/breach-list.ts'
import type { AcmeWorld } from './acme/acme.ts'
import { createDnsServer } from './acme/dns-server.ts'
import { createApp } from './app.ts'
import { localFetch } from './console-access/local-fetch.ts'
import { createConsolePages } from './console/world.ts'
import type { ControlPlaneSettings } from './config.ts'
import { speakTls } from './fleet/fleet-listener.ts'
import { openMailbox, type Mailbox } from './mail/mailbox.ts'
import type { MailTransport } from './mail/mails.ts'
import { createSmtp } from './mail/smtp.ts'
import { WrongMasterKey } from './keys/master-key.ts'
import { answerMetrics, createMetrics } from './metrics.ts'
import { loadRealm } from './realm/realms.ts'
import { createPublicServer } from './server.ts'
import { createSecureListener } from './listener/secure-listener.ts'
import { createSendToTls } from './listener/without-tls.ts'
import { createServices, type Services } from './services/services.ts'
import { createOwnCertificate } from './tenants/own-certificate.ts'
import { createTracing, type Tracing } from './tracing/tracing.ts'
import { openServer, type Opened } from './store/engines/server.ts'
import { openSqlite } from './store/engines/sqlite.ts'

interface ControlPlane {
  readonly address: AddressInfo
  readonly fleetAddress: AddressInfo
  /** Of `tls_listen`, if there is one. */
  readonly tlsAddress: AddressInfo | undefined
  /** Of `acme.dns.listen`, if there is one. */
  readonly dnsAddress: AddressInfo | undefined
  /** Settles if another control plane has its database now: what to say. */
  readonly lost: Promise<string>
  /** Answers what has been asked, takes nothing new, and leaves nothing behind. */
  close(): Promise<void>
}

interface World {
  readonly log: Logger
  readonly clock: Clock
  /** What only tests give. */
  readonly acmeWorld?: AcmeWorld
}

/** Requests that are still running then are cut off. */
const DRAIN_MS_MAX = 10_000

export async function startControlPlane(
  settings: ControlPlaneSettings,
  world: World,
): Promise<ControlPlane> {
  const { log } = world
  const mailbox = openMailboxOf(settings)
  const mailTransport = mailbox ?? createSmtp(smtpOf(settings))
  if (mailbox !== undefined) {
    const level = isThisMachine(new URL(settings.baseUrl).hostname) ? 'info' : 'warn'
    log[level](
      { file: mailboxFile(settings) },
      'emails are kept in a file and not sent; to send them, set SERVICE_SMTP_URL to your mail server',
    )
  }
  const tracing = createTracing({
    ...world,
    settings: settings.traces ?? null,
    instanceId: hostname(),
  })
  const { services, lost, clock } = await openServices(
    settings,
    { ...world, tracing },
    mailTransport,
  )
  if (services.clientsHidden)
    log.warn(
      'base_url is https, so a proxy terminates TLS: list it in control_plane.trusted_proxies. Otherwise every client appears with the address of the proxy, one lockout stops everyone and network policies cannot work',
    )
  const realmFetch = localFetch(settings, () => server.address() as AddressInfo)
  const pages = createConsolePages(services)
  const app = createApp(services, { ...settings, mailbox, realmFetch, pages })
  const server: Server = createPublicServer({
    app,
    realms: services.realms,
    log,
    clock,
    trustedProxies: settings.trustedProxies,
    proxyProtocol: settings.proxyProtocol,
    operatorKey: settings.operatorKey,
    tracing,
    sendToTls: sendToTlsOf(settings, services),
  })
  const own = ownTls(settings, services, server)
  const dns = dnsOf(settings, services)
  const { operatorKey, fleetKey } = settings
  const metrics = createMetrics(services, { operator: operatorKey, fleet: fleetKey })
  const fleetServer = createServer(answerMetrics(metrics, fleetKey))
  services.fleet.attach(fleetServer)
  speakTls({ server: fleetServer, certificate: services.fleetCertificate, fleetKey })
  try {
    await services.consoleAccess.ensureRealm()
    await loadRealm() // before anybody waits to sign in
    const address = await listen(server, settings.listen, 'control_plane.listen')
    const tlsAddress = await own?.listen()
    const fleetAddress = await listen(
      fleetServer,
      settings.fleetListen,
      'control_plane.fleet_listen',
    )
    const dnsAddress = await dns?.listen()
    services.jobs.tidied('formAnswers', pages.formAnswers)
    services.jobs.start()
    services.dispatcher.start()
    services.acme?.start()
    return {
      address,
      fleetAddress,
      tlsAddress,
      dnsAddress,
      lost,
      async close() {
        await services.acme?.close()
        await services.jobs.close()
        own?.close()
        dns?.close()
        await stop(server)
        fleetServer.close()
        await services.close()
        fleetServer.closeAllConnections()
        await tracing.close()
      },
    }
  } catch (error) {
    own?.close()
    dns?.close()
    server.close()
    await services.close()
    await tracing.close()
    throw error
  }
}

function sendToTlsOf(settings: ControlPlaneSettings, { acme }: Services) {
  const { baseUrl, tlsListen = null, trustedProxies = [] } = settings
  if (tlsListen === null) return undefined
  return createSendToTls({ baseUrl, thumbprint: acme?.thumbprint, trustedProxies })
}

/** TLS of our own, in front of the public listener; undefined: a proxy has it. */
function ownTls(settings: ControlPlaneSettings, services: Services, server: Server) {
  const { tlsListen = null, trustedProxies, proxyProtocol } = settings
  if (tlsListen === null) return undefined
  const hostname = ownHostnameOf(settings)
  const readFile = ownCertificateFile(settings)?.read
  const certificate = createOwnCertificate({ ...services, hostname, readFile })
  const { context } = certificate
  const behind = { trustedProxies, proxyProtocol, log: services.log }
  const secure = createSecureListener({ server, hostname, context, ...behind })
  return {
    async listen() {
      await certificate.start()
      return listen(secure, tlsListen, 'control_plane.tls_listen')
    },
    close() {
      certificate.close()
      secure.close()
    },
  }
}

/** The zone that certificates are proven by; undefined: others answer for it, or nobody. */
function dnsOf({ acme, dnsListen = null }: ControlPlaneSettings, services: Services) {
  const zone = acme?.dns
  if (!zone || dnsListen === null || !services.acme) return undefined
  const server = createDnsServer({ ...services, zone, thumbprint: services.acme.thumbprint })
  return {
    listen: () =>
      server.listen(dnsListen).catch((error: NodeJS.ErrnoException) => {
        throw explain(error, dnsListen, 'control_plane.acme.dns.listen')
      }),
    close: server.close,
  }
}

const ownHostnameOf = ({ baseUrl }: ControlPlaneSettings) => new URL(baseUrl).hostname

/** Ours is ordered for where nobody has brought one along. */
function ownHostnames(settings: ControlPlaneSettings): readonly string[] {
  const { tlsListen = null, tlsCertificateFile = null } = settings
  return tlsListen === null || tlsCertificateFile !== null ? [] : [ownHostnameOf(settings)]
}

function ownCertificateFile(settings: ControlPlaneSettings) {
  const { tlsListen = null, tlsCertificateFile: file = null } = settings
  if (tlsListen === null || file === null) return undefined
  return { hostname: ownHostnameOf(settings), read: () => readFileSync(file, 'utf8') }
}

const mailboxFile = ({ dataDir }: ControlPlaneSettings) => join(dataDir, 'mailbox.jsonl')

function openMailboxOf(settings: ControlPlaneSettings): Mailbox | undefined {
  return settings.smtpUrl === null ? openMailbox(mailboxFile(settings)) : undefined
}

function smtpOf({ smtpUrl, mailFrom }: ControlPlaneSettings) {
  return { url: smtpUrl ?? '', from: mailFrom }
}

async function openServices(
  settings: ControlPlaneSettings,
  world: World & { readonly tracing: Tracing },
  mailTransport: MailTransport,
) {
  const breaches = await openBreaches(settings)
  const { engine, lost, clock } = await openEngine(settings, world.clock)
  try {
    const hasOwnTls = (settings.tlsListen ?? null) !== null
    const own = {
      hasOwnTls,
      ownHostnames: ownHostnames(settings),
      ownCertificateFile: ownCertificateFile(settings),
    }
    const parts = { ...settings, ...own, ...world, engine, clock, breaches, mailTransport }
    return { services: await createServices(parts), lost, clock }
  } catch (error) {
    await engine.close()
    await breaches?.close()
    throw error instanceof WrongMasterKey ? new StartProblem(error.message) : error
  }
}

async function openBreaches({ breachListFile }: ControlPlaneSettings) {
  if (breachListFile === null) return undefined
  try {
    return await openBreachList(breachListFile)
  } catch (error) {
    throw new StartProblem(`passwords.breach_list: ${(error as Error).message}`)
  }
}

async function openEngine(
  { database, dataDir }: ControlPlaneSettings,
  clock: Clock,
): Promise<Opened> {
  if (database !== 'sqlite') return openServer(database)
  const file = join(dataDir, 'service.db')
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    keepPrivate(file)
    return { engine: openSqlite(file), clock, lost: new Promise(() => {}) }
  } catch (error) {
    throw new StartProblem(
      `${file} could not be opened: ${(error as Error).message}; check its folder, or set data_dir to another one`,
    )
  }
}

/** Before SQLite makes it readable for everybody; its other files get the mode of the first. */
function keepPrivate(file: string) {
  closeSync(openSync(file, 'a', 0o600))
  for (const written of [file, `${file}-wal`, `${file}-shm`])
    if (existsSync(written)) chmodSync(written, 0o600) // by an earlier version, or from a backup
}

function listen(server: NetServer, at: Listen, setting: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, at, setting)))
    server.listen(at.port, at.host, () => resolve(server.address() as AddressInfo))
  })
}

/** For the person at the terminal: which address, and where to change it. */
function explain(error: NodeJS.ErrnoException, at: Listen, setting: string): Error {
  const problem = {
    EADDRINUSE: 'is already in use',
    EACCES: 'needs rights that this user does not have',
  }[error.code ?? '']
  if (problem === undefined) return error
  return new StartProblem(
    `${listenText(at)} ${problem}; set ${setting} to another address in the config file`,
  )
}

/** One line that says what is in the way, and which setting leads around it. */
export class StartProblem extends Error {
  constructor(line: string) {
    super(line)
    this.name = 'StartProblem'
  }
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const impatience = setTimeout(() => server.closeAllConnections(), DRAIN_MS_MAX)
    server.close(() => {
      clearTimeout(impatience)
      resolve()
    })
    server.closeIdleConnections()
  })
}
