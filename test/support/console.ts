/** The console without a socket: people with sessions, and what their browsers would send. */
import { createConsolePages } from '../../control-plane/console/world.ts'
import { createApp } from '../../control-plane/app.ts'
import type { SignedIn } from '../../control-plane/console-access/console-sessions.ts'
import { CSRF_FIELD, FORM_ID_FIELD } from '../../control-plane/console/form-values.ts'
import { consoleRoutes } from '../../control-plane/console/routes.ts'
import { CONSOLE_REALM } from '../../control-plane/store/reserved.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'
import { createRelyingParty } from '../../shared/sign-in/relying-party.ts'
import { OPERATOR_KEY } from './api.ts'
import { ACTOR, startServices, tenantNamed } from './control-plane.ts'
import { give } from '../../control-plane/console-access/roles.ts'
import { deleteRole } from '../../control-plane/store/queries/console.ts'
import { createLiveKey } from '../../control-plane/keys/live-key.ts'

export const CONSOLE_PASSWORD = 'a long walk along the harbour wall'

export interface Sent {
  readonly method?: string
  readonly form?: Record<string, string | readonly string[]>
  readonly headers?: Record<string, string>
  readonly isJson?: boolean
  readonly address?: string
}

export interface Person {
  readonly userId: string
  readonly sid: string
  readonly sessionId: string
  /** What a browser sends as Cookie. */
  readonly cookie: string
  get(path: string, sent?: Sent): Promise<ConsoleAnswer>
  /** With the proofs that a page of theirs would have put into the form. */
  post(path: string, form?: Sent['form'], sent?: Sent): Promise<ConsoleAnswer>
}

export interface ConsoleAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly location: string
}

/** The table is walked, and nobody signs in by it. */
const nobody = () => Promise.reject(new Error('there is no realm here'))

let people = 0

type Roles = Pick<Awaited<ReturnType<typeof startServices>>, 'store'>

/** Without the pages on which it is asked; '' for all tenants. */
export const giveRole = ({ store }: Roles, userId: string, tenantId: string, isReadOnly = false) =>
  store.change((change) => give(change, userId, tenantId, ACTOR, isReadOnly))
export const takeRole = ({ store }: Roles, userId: string, tenantId: string) =>
  store.change(({ queries }) => deleteRole(queries, userId, tenantId))

/** With tenants `acme` and `other`. */
export async function startConsole(...args: Parameters<typeof startServices>) {
  const services = await startServices(...args)
  await services.consoleAccess.ensureRealm()
  const { tenants, users, sessions, consoleAccess, clock, baseUrl } = services
  for (const tenantId of ['acme', 'other']) await tenants.create(tenantNamed(tenantId), ACTOR)
  const pages = createConsolePages(services)
  const app = createApp(services, { operatorKey: createLiveKey(OPERATOR_KEY), pages })
  const relyingParty = createRelyingParty({ fetch: nobody, clock })
  const routes = consoleRoutes({
    ...services,
    ...pages,
    relyingParty,
    rates: createRateLimits(clock),
  })

  async function ask(path: string, cookie: string, sent: Sent = {}): Promise<ConsoleAnswer> {
    const { method = 'GET', form, isJson = false, address = '127.0.0.1' } = sent
    const headers: Record<string, string> = {
      accept: isJson ? 'application/json' : 'text/html',
      ...(cookie !== '' && { cookie }),
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...sent.headers,
    }
    const fields = Object.entries(form ?? {}).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : value.map((one) => [name, one]),
    )
    const body = form === undefined ? null : new URLSearchParams(fields).toString()
    const answer = await app.request(baseUrl + path, { method, headers, body }, { address })
    const text = await answer.text()
    const location = answer.headers.get('location') ?? ''
    return { status: answer.status, headers: answer.headers, text, location }
  }

  /** An account that has signed in just now; `role` is a tenant's id or `operator`. */
  async function person(role: string | undefined, name = `person ${++people}`): Promise<Person> {
    const email = `${name.replaceAll(/[^a-z0-9]/gi, '.')}@example.test`
    const account = { username: email, email, name, password: '' }
    const { userId } = await users.create(CONSOLE_REALM, account, ACTOR)
    if (role !== undefined) await giveRole(services, userId, role === 'operator' ? '' : role)
    return signedIn(userId)
  }

  async function signedIn(userId: string, signedInAtMs = clock.nowMs()): Promise<Person> {
    const sid = `sid-${++people}`
    const issued = { tenantId: CONSOLE_REALM, sid, userId, ip: '192.0.2.1', userAgent: 'test' }
    const issuedAtMs = clock.nowMs()
    await sessions.record({ ...issued, issuedAtMs, expiresAtMs: issuedAtMs + 8 * 3600_000 })
    const proof: SignedIn = { userId, sid, signedInAtMs }
    const sessionId = await consoleAccess.sessions.begin(proof)
    const cookie = `service_console=${sessionId}`
    const { proofs } = consoleAccess
    return {
      userId,
      sid,
      sessionId,
      cookie,
      get: (path, sent) => ask(path, cookie, sent),
      post: (path, form = {}, sent = {}) =>
        ask(path, cookie, {
          method: 'POST',
          ...sent,
          form: {
            [CSRF_FIELD]: proofs.csrf(userId),
            [FORM_ID_FIELD]: proofs.newFormId(userId),
            ...form,
          },
        }),
    }
  }

  return { services, app, routes, ask, person, signedIn }
}
