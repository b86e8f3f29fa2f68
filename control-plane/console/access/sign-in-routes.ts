/**
 * Signing in to the console: it is an application of our own realm like any other, a confidential
 * client with the code flow and PKCE by openid-client. What is under way lies sealed in a cookie.
 */
import { randomBytes } from 'node:crypto'
import { html } from 'hono/html'
import { createLocalJWKSet, jwtVerify } from 'jose'
import * as v from 'valibot'
import { nowSeconds, SECOND_MS } from '../../../shared/clock.ts'
import {
  clearCookie,
  flowCookies,
  readCookie,
  setCookie,
} from '../../../shared/enforcement/cookies.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  flowCookieName,
  flowIdOf,
  newFlowId,
  openFlow,
  sealFlow,
  type Flow,
} from '../../../shared/sign-in/flow.ts'
import { ACR_SECOND_FACTOR } from '../../policy/verdict.ts'
import { findUser } from '../../store/queries/users.ts'
import { CONSOLE_REALM } from '../../store/reserved.ts'
import type { Change } from '../../store/store.ts'
import { CONSOLE_CALLBACK_PATH } from '../../tenants/application-home.ts'
import { issuerOf } from '../../../shared/issuer.ts'
import { clientIdOf } from '../../tenants/tenants.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import type { Viewer } from '../../console-access/console-sessions.ts'
import { action, page, type ConsoleRoute, type View, type Visit } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'
import {
  clearedSessionCookies,
  cookiePath,
  isSecure,
  readSessionCookie,
  sessionCookies,
} from './cookies.ts'
import { safeReturnAddress } from './return-address.ts'

const text = v.optional(v.string())

/** Whoever uses somebody else's account is seen by the others. */
async function noteSignIn(change: Change, userId: string, { from, requestId }: Visit) {
  const user = await findUser(change.queries, CONSOLE_REALM, userId)
  const actor = { name: `console:${user?.email ?? userId}`, id: userId, requestId }
  const content = { user_id: userId, address: from }
  await change.audit(actor, { action: 'console.signed_in', content })
}

export function signInRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { baseUrl, vault, clock, consoleAccess, log } = world
  const flowKeys = vault.deriveKeys('console.flow')
  const redirectUri = baseUrl + CONSOLE_CALLBACK_PATH
  const secure = isSecure(baseUrl)
  const path = cookiePath(baseUrl)
  /** Kept as one object, by which the relying party knows what it has discovered. */
  let client: Promise<RealmClient> | undefined
  const theClient = () => (client ??= realmClient(world))

  async function start(
    { cookies, viewer }: Visit & { readonly viewer?: Viewer | undefined },
    returnTo: string,
    wantsFresh: boolean,
  ) {
    const seconds = nowSeconds(clock)
    const flowId = newFlowId(seconds)
    const state = `${flowId}.${randomBytes(16).toString('base64url')}`
    // its cookie outlives a session that was idle for too long, or was ended elsewhere
    const isEnded = viewer === undefined && readSessionCookie(cookies, baseUrl) !== undefined
    const request = {
      redirectUri,
      state,
      isFresh: wantsFresh,
      loginHint: viewer?.email,
      sessionEnded: isEnded ? ('expired' as const) : undefined,
    }
    const { location, nonce, codeVerifier } = await world.relyingParty.start(
      { client: await theClient() },
      request,
    )
    const flow: Flow = {
      state,
      nonce,
      codeVerifier,
      returnTo,
      startedSeconds: seconds,
      isFresh: wantsFresh,
    }
    const cookie = setCookie(flowCookieName(flowId, secure), sealFlow(flow, flowKeys[0]), {
      path,
      maxAgeSeconds: LIMITS.flowSecondsMax,
      isSecure: secure,
    })
    const surplus = flowCookies(cookies).slice(0, -(LIMITS.flowCookiesMax - 1))
    const cleared = surplus.map(({ name }) => clearCookie(name, secure, path))
    return redirect(location, [...cleared, cookie])
  }

  async function finish(visit: Visit, state: string, query: string): Promise<Response | View> {
    const flowId = flowIdOf(state)
    const name = flowCookieName(flowId ?? '', secure)
    const sealed = flowId === undefined ? undefined : readCookie(visit.cookies, name)
    const flow =
      typeof sealed === 'string' ? openFlow(sealed, flowKeys, nowSeconds(clock)) : undefined
    // an old link, a cleared cookie: whoever is signed in goes on, others begin anew
    if (flow === undefined || flow.state !== state) return redirect('/console')
    const cleared = clearCookie(name, secure, path)
    try {
      const token = await world.relyingParty.finish(
        { client: await theClient() },
        { callbackUrl: `${redirectUri}?${query}`, ...flow },
      )
      const claims = await proven(token, world)
      if (flow.isFresh && claims.signedInAtMs < flow.startedSeconds * SECOND_MS)
        throw new Error('an older sign-in came back than was asked for')
      const before = readSessionCookie(visit.cookies, baseUrl)
      const id = await consoleAccess.sessions.begin(claims, before, (change) =>
        noteSignIn(change, claims.userId, visit),
      )
      return redirect(flow.returnTo, [cleared, ...sessionCookies(id, baseUrl)])
    } catch (error) {
      // another client secret or another key: asked for anew by the next one
      client = undefined
      log.warn({ reason: (error as Error).message }, 'a sign-in to the console has failed')
      return notSignedIn()
    }
  }

  return [
    page(
      { path: '/console/sign-in', role: 'anyone', query: { return_to: text, fresh: text } },
      (visit) => {
        const returnTo = safeReturnAddress(visit.query.return_to)
        const wantsFresh = visit.query.fresh === 'yes'
        if (visit.viewer !== undefined && !wantsFresh) return redirect(returnTo)
        return start(visit, returnTo, wantsFresh)
      },
    ),
    page(
      {
        path: CONSOLE_CALLBACK_PATH,
        role: 'anyone',
        query: { state: text, code: text, error: text },
      },
      (visit) => {
        const { state = '', error } = visit.query
        if (error !== undefined) return notSignedIn()
        return finish(visit, state, visit.address.slice(visit.address.indexOf('?') + 1))
      },
    ),
    action({ path: '/console/sign-out', role: 'viewer' }, async ({ viewer, requestId }) => {
      await consoleAccess.sessions.end(viewer.sessionId, requestId)
      return redirect('/console/signed-out', clearedSessionCookies(baseUrl))
    }),
    page({ path: '/console/signed-out', role: 'anyone' }, () => ({
      title: "You're signed out",
      content: html`<div class="card">
        <p>You have signed out of the console.</p>
        ${linkButton('/console', 'Sign in again')}
      </div>`,
    })),
  ]
}

interface RealmClient {
  readonly issuer: string
  readonly id: string
  readonly secret: string
}

async function realmClient({ baseUrl, tenants }: ConsoleWorld): Promise<RealmClient> {
  const { current } = await tenants.clientSecrets(CONSOLE_REALM)
  return {
    issuer: issuerOf(baseUrl, CONSOLE_REALM),
    id: clientIdOf(CONSOLE_REALM),
    secret: current,
  }
}

/** Judged by the realm's own keys, although it came straight from the realm. */
async function proven(token: string, { keys, clock, baseUrl }: ConsoleWorld) {
  const { jwks } = await keys.signingSet(CONSOLE_REALM)
  const open = jwks.map(({ kty, n, e, kid, alg }) => ({
    kty,
    n: String(n),
    e: String(e),
    kid,
    alg,
  }))
  const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: open }), {
    issuer: issuerOf(baseUrl, CONSOLE_REALM),
    audience: clientIdOf(CONSOLE_REALM),
    algorithms: ['RS256'],
    currentDate: new Date(clock.nowMs()),
  })
  const { sub, sid, auth_time: seconds, acr } = payload as Record<string, unknown>
  if (typeof sub !== 'string' || typeof sid !== 'string' || typeof seconds !== 'number')
    throw new Error('the token of the realm says too little')
  // the realm's policy demands it; a policy that was weakened is no way in here
  if (acr !== ACR_SECOND_FACTOR) throw new Error('the sign-in was without a second factor')
  return { userId: sub, sid, signedInAtMs: seconds * SECOND_MS }
}

function notSignedIn(): View {
  return {
    title: 'Sign-in not completed',
    status: 400,
    content: html`<div class="card">
      <p>Sign in again to continue.</p>
      ${linkButton('/console', 'Sign in')}
    </div>`,
  }
}

function redirect(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store' })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 303, headers })
}
