/** The realm with the real services on a real server, and a browser to visit it with. */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pino from 'pino'
import * as oidc from 'openid-client'
import { Agent, fetch } from 'undici'
import type { PasswordHasher } from '../../../control-plane/accounts/passwords/hasher.ts'
import { createUsers } from '../../../control-plane/accounts/users.ts'
import type { MailTransport } from '../../../control-plane/mail/mails.ts'
import type { Mail } from '../../../control-plane/mail/mails.ts'
import { createRealms, type RealmRates } from '../../../control-plane/realm/realms.ts'
import type { RealmWorld } from '../../../control-plane/realm/world.ts'
import { createServices, type Services } from '../../../control-plane/services/services.ts'
import type { NewTenant } from '../../../control-plane/tenants/tenants.ts'
import type { ReceiverWorld } from '../../../control-plane/webhooks/receiver-client.ts'
import { systemClock, type Clock } from '../../../shared/clock.ts'
import { describeError } from '../../../shared/log.ts'
import { ACTOR, cheapSecrets, temporaryFolder, tenantNamed } from '../../support/control-plane.ts'
import { newDatabase, openDatabase } from '../../support/databases.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'

/** A connection per request, so that none is left over from before a restart. */
const dispatcher = new Agent({ pipelining: 0 })

export { ACTOR }
export const PASSWORD = 'correct horse battery staple'
/** What the user of every test tenant enters. */
export const ADA = { username: 'ada', password: PASSWORD }

/** What a tap test offers here. */
interface TestScope {
  teardown(work: () => unknown): void
  after(work: () => Promise<void>): void
}

export interface WorldOptions {
  readonly file?: string
  readonly masterKey?: Buffer
  readonly previousMasterKey?: Buffer
  readonly port?: number
  readonly clock?: Clock
  readonly passwords?: PasswordHasher
  /** Where the tenants' edges listen. */
  readonly edgePort?: number
  /** The name that the realm is visited under; passkeys need one. */
  readonly hostname?: string
  /** For what is said in an answer of a service that stands behind TLS. */
  readonly baseUrl?: string
  readonly rates?: Partial<RealmRates>
  /** Where mails end; nowhere, if nobody looks. */
  readonly mailTransport?: MailTransport
  /** How webhooks are reached. */
  readonly receivers?: ReceiverWorld
  /** What name servers say of TXT records. */
  readonly resolveTxt?: (name: string) => Promise<readonly (readonly string[])[]>
  /** What the realms get instead of the real service, made from it. */
  readonly adapt?: (services: Services) => Partial<RealmWorld>
}

export async function startWorld(t: TestScope, options: WorldOptions = {}) {
  const secrets = cheapSecrets(options.file)
  const file = options.file ?? (await newDatabase(join(temporaryFolder(t), 'control.db')))
  const edgePort = options.edgePort ?? 8000
  const masterKey = options.masterKey ?? randomBytes(32)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const address = `http://${options.hostname ?? '127.0.0.1'}:${port}`
  const baseUrl = options.baseUrl ?? address
  const logged: string[] = []
  const written = { write: (line: string) => void logged.push(line) }
  const log = pino({ level: 'info', serializers: { error: describeError } }, written)
  const sentMails: Mail[] = []
  const services = await createServices({
    engine: await openDatabase(file),
    masterKey,
    previousMasterKey: options.previousMasterKey,
    fleetKey: createLiveKey('fleet-key-of-the-tests'),
    baseUrl,
    edgeUrlFor: (hostname) => `http://${hostname}:${edgePort}`,
    mailTransport: options.mailTransport ?? {
      send: async (mail) => void sentMails.push(mail),
      close: () => undefined,
    },
    directoryAddresses: ['127.0.0.0/8'],
    ...(options.receivers && { receivers: options.receivers }),
    proofs: { resolveTxt: options.resolveTxt ?? (async () => []), timeoutMs: 1000 },
    ...secrets,
    behindAnswerMs: () => 0, // so that nobody waits for it
    clock: options.clock ?? systemClock,
    log,
  })
  const { tenants, users } = services
  const { passwords, adapt, rates } = options
  const adapted = {
    ...(passwords === undefined ? {} : { users: createUsers({ ...services, passwords }) }),
    ...adapt?.(services),
  }
  const isAdapted = Object.keys(adapted).length > 0 || rates !== undefined
  const realms = isAdapted ? createRealms({ ...services, ...adapted }, rates) : services.realms
  server.on('request', (request, response) => void realms.handle(request, response))

  let isClosed = false
  async function close() {
    if (isClosed) return
    isClosed = true
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await services.close()
  }
  t.after(close)

  /** A published tenant with one user, and what its application needs to sign people in. */
  async function tenant(tenantId: string, settings: Partial<NewTenant> = {}) {
    const hostnames = settings.hostnames ?? [`${tenantId}.example`]
    const created = await tenants.create(
      tenantNamed(tenantId, { name: `The ${tenantId} application`, ...settings, hostnames }),
      ACTOR,
    )
    await tenants.publish(tenantId, ACTOR)
    const ada = await users.create(tenantId, userNamed('ada'), ACTOR)
    const issuer = `${baseUrl}/auth/realms/${tenantId}`
    const redirectUri = `http://${hostnames[0]}:${edgePort}/service/callback`
    return { ...created, ada, issuer, redirectUri, hostnames }
  }

  return { ...services, realms, sentMails, address, port, file, masterKey, logged, tenant, close }
}

export type World = Awaited<ReturnType<typeof startWorld>>
export type TestTenant = Awaited<ReturnType<World['tenant']>>

export function userNamed(username: string, name = 'Ada Lovelace') {
  return { username, email: `${username}@example.test`, name, password: PASSWORD }
}

export interface BrowserRequest {
  readonly method?: string
  readonly body?: URLSearchParams | string
  readonly headers?: Record<string, string>
}

interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  readonly attributes: string
}

/** Cookies, redirects and forms of a browser without JavaScript; it stops where an edge begins. */
export class Browser {
  #cookies: Cookie[] = []
  readonly #home: string

  constructor(home: string) {
    this.#home = home
  }

  get cookies(): readonly Cookie[] {
    return this.#cookies
  }

  remember(cookies: readonly Cookie[]) {
    this.#cookies = [...cookies]
  }

  forgetCookies(isMeant: (cookie: Cookie) => boolean = () => true) {
    this.#cookies = this.#cookies.filter((cookie) => !isMeant(cookie))
  }

  async once(url: string, init: BrowserRequest = {}) {
    const { pathname } = new URL(url)
    const sent = this.#cookies.filter(({ path }) => isUnder(pathname, path))
    const cookie = sent.map(({ name, value }) => `${name}=${value}`).join('; ')
    const headers: Record<string, string> = { accept: 'text/html,*/*', ...init.headers }
    if (cookie !== '') headers.cookie = cookie
    const response = await fetch(url, { ...init, headers, redirect: 'manual', dispatcher })
    for (const line of response.headers.getSetCookie()) this.#keep(line, pathname)
    return response
  }

  /** Follows redirects within the service; answers the last address and the last answer. */
  async visit(url: string, init: BrowserRequest = {}) {
    let response = await this.once(url, init)
    let at = url
    for (let hop = 0; hop < 10; hop++) {
      const location = response.headers.get('location')
      if (location === null) return { url: at, response, html: await response.text() }
      at = new URL(location, at).href
      if (!at.startsWith(this.#home)) return { url: at, response, html: '' }
      response = await this.once(at)
    }
    throw new Error('a redirect loop')
  }

  async submit(url: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
    return this.visit(url, { method: 'POST', body: new URLSearchParams(fields), headers })
  }

  #keep(line: string, pathname: string) {
    const [pair = '', ...attributes] = line.split(/;\s*/)
    const [name = '', ...rest] = pair.split('=')
    const given = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5)
    const path = given ?? (pathname.slice(0, pathname.lastIndexOf('/')) || '/')
    const isGone = attributes.some((attribute) => /^expires=.*1970/i.test(attribute))
    this.#cookies = this.#cookies.filter((known) => known.name !== name || known.path !== path)
    if (!isGone)
      this.#cookies.push({ name, value: rest.join('='), path, attributes: attributes.join('; ') })
  }
}

/** RFC 6265, section 5.1.4. */
function isUnder(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
}

/** The application's side, as any standard relying party would be written. */
export async function relyingParty(
  tenant: Pick<TestTenant, 'issuer' | 'clientId' | 'clientSecret' | 'redirectUri'>,
  secret = tenant.clientSecret,
) {
  const configuration = await oidc.discovery(
    new URL(tenant.issuer),
    tenant.clientId,
    secret,
    undefined,
    {
      execute: [oidc.allowInsecureRequests],
      [oidc.customFetch]: ((url: string, init: object) =>
        fetch(url, { ...init, dispatcher })) as unknown as oidc.CustomFetch,
    },
  )
  const { redirectUri } = tenant

  async function begin(parameters: Record<string, string> = {}) {
    const verifier = oidc.randomPKCECodeVerifier()
    const state = oidc.randomState()
    const nonce = oidc.randomNonce()
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: 'openid profile email',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
      ...parameters,
    })
    const finish = (callback: string) =>
      oidc.authorizationCodeGrant(configuration, new URL(callback), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
      })
    return { url: url.href, verifier, state, nonce, finish }
  }

  return { configuration, begin }
}

/** All the way from the application to a session token. */
export async function signIn(
  browser: Browser,
  tenant: TestTenant,
  parameters: Record<string, string> = {},
  credentials: Record<string, string> = { username: 'ada', password: PASSWORD },
) {
  const party = await relyingParty(tenant)
  const flow = await party.begin(parameters)
  const page = await browser.visit(flow.url)
  const answer = await browser.submit(page.url, credentials)
  const tokens = await flow.finish(answer.url)
  const claims = tokens.claims()
  if (claims === undefined || tokens.id_token === undefined) throw new Error('no ID token')
  return { tokens, claims, idToken: tokens.id_token, party, page, callback: answer.url }
}

/** The session that a token belongs to. */
export function sidOf(tokens: { claims(): Record<string, unknown> | undefined }): string {
  const sid = tokens.claims()?.sid
  if (typeof sid !== 'string') throw new Error('no sid')
  return sid
}

/** An authorization request with something about it changed; null leaves a parameter out. */
export async function requestWith(tenant: TestTenant, changes: Record<string, string | null>) {
  const { url } = await (await relyingParty(tenant)).begin()
  const changed = new URL(url)
  for (const [name, value] of Object.entries(changes))
    if (value === null) changed.searchParams.delete(name)
    else changed.searchParams.set(name, value)
  return changed.href
}

export function codeIn(url: string): string {
  return new URL(url).searchParams.get('code') ?? ''
}

export function exchange(
  tenant: Pick<TestTenant, 'issuer' | 'clientId' | 'clientSecret' | 'redirectUri'>,
  fields: Record<string, string | undefined> | [string, string][],
) {
  const given = Array.isArray(fields)
    ? fields
    : Object.entries({
        grant_type: 'authorization_code',
        redirect_uri: tenant.redirectUri,
        ...fields,
      })
  const body = new URLSearchParams()
  for (const [name, value] of given) if (value !== undefined) body.append(name, value)
  const credentials = `${tenant.clientId}:${tenant.clientSecret}`
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  return fetch(`${tenant.issuer}/token`, { method: 'POST', body, headers: { authorization } })
}

export async function userinfoStatus({ issuer }: TestTenant, accessToken: string): Promise<number> {
  const headers = { authorization: `Bearer ${accessToken}` }
  return (await fetch(`${issuer}/userinfo`, { headers })).status
}
