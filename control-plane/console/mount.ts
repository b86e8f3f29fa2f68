/**
 * The life of a request to the console. Read this first: who asks, may they, is it their own form,
 * then one call and one page. What may not be seen and what does not exist are answered alike.
 */
import type { Hono } from 'hono'
import { Refusal } from '../../shared/errors.ts'
import { isNavigation } from '../../shared/enforcement/navigation.ts'
import { LIMITS } from '../../shared/limits.ts'
import { describeError } from '../../shared/log.ts'
import { addressRates } from '../http/address-rates.ts'
import { addressOf, type ApiContext, type ApiEnv } from '../http/context.ts'
import { encodedFor } from '../http/compressed.ts'
import { sendShared } from '../http/large-answers.ts'
import { readQuery } from '../http/query.ts'
import { isHangUp } from '../listener/hang-up.ts'
import { noteGood } from '../listener/known-credentials.ts'
import { withoutStopToken } from '../mail/alert-links.ts'
import type { Tenant } from '../tenants/tenants.ts'
import type { Viewer } from '../console-access/console-sessions.ts'
import { readSessionCookie } from './access/cookies.ts'
import { entering } from './access/entering.ts'
import { isFreshSignIn } from './access/fresh-sign-in.ts'
import { formPagesIn, isForForm, isLookedAtOnly } from './access/read-only.ts'
import { carryOut, locationOf } from './carry-out.ts'
import { readForm, refuseForeignForm } from './form-proofs.ts'
import { keepSignedOut } from './keep-form.ts'
import { signInAddress } from './access/return-address.ts'
import { answerRefusal, answerView, proofsFor } from './answers.ts'
import { ASSETS_PATH } from './assets.ts'
import { isShownAgain, savesTooOften } from './save-rate.ts'
import type { ConsoleRoute, Declaration, View, Visit } from './route.ts'
import type { ConsoleWorld } from './world.ts'
import { withoutTrailing } from '../../shared/trailing.ts'

export function mountConsole(
  app: Hono<ApiEnv>,
  routes: readonly ConsoleRoute[],
  world: ConsoleWorld,
): void {
  const declarations = routes.map(({ declaration }) => declaration)
  const pages: Pages = {
    paths: new Set(declarations.map(({ path }) => path)),
    formPages: formPagesIn(declarations),
  }
  app.get(`${ASSETS_PATH}:name`, (c) => answerAsset(c, world))
  for (const route of routes) {
    const path = route.declaration.path.replaceAll(/\{([^}]+)\}/g, ':$1')
    app.on(route.declaration.method, path, (c) => answer(c, route, world, pages))
  }
  // typed with a slash at its end; where it leads is still ours, and answers as it always does
  app.get('/console/*', (c, next) => {
    const bare = withoutTrailing(c.req.path, '/')
    if (bare === c.req.path) return next()
    return Promise.resolve(marked(c, c.redirect(bare + new URL(c.req.url).search, 308)))
  })
  // whoever is not signed in does not learn which pages there are
  const elsewhere: ConsoleRoute = {
    declaration: { method: 'GET', path: '/console/*', role: 'viewer' },
    handle: () => Promise.reject(new Refusal('not_found')),
  }
  app.all('/console/*', (c) => answer(c, elsewhere, world, pages))
}

interface Pages {
  readonly paths: ReadonlySet<string>
  readonly formPages: readonly RegExp[]
}

async function answerAsset(c: ApiContext, { assets }: ConsoleWorld): Promise<Response> {
  const asset = await assets.find(c.req.path)
  if (asset === undefined) return c.text('Page not found.', 404)
  const { bytes, headers } = await encodedFor(asset.content, c.req.header('accept-encoding'))
  return sendShared(c, bytes, {
    'Content-Type': asset.mediaType,
    'Cache-Control': 'public, max-age=31536000, immutable',
    ...headers,
  })
}

async function answer(
  c: ApiContext,
  route: ConsoleRoute,
  world: ConsoleWorld,
  { paths, formPages }: Pages,
): Promise<Response> {
  const { consoleAccess } = world
  const sessionId = readSessionCookie(c.req.header('cookie') ?? '', world.baseUrl)
  let viewer: Viewer | undefined
  let tenant: Tenant | undefined
  let show = (view: View) => answerView(c, view, { world, viewer, tenant, paths })
  try {
    addressRates(world.rates).take('console', addressOf(c), LIMITS.rateConsole)
    const { declaration } = route
    const isForm = declaration.method === 'POST'
    viewer = await consoleAccess.sessions.viewer(sessionId)
    if (viewer !== undefined) noteGood(c.env?.incoming)
    if (declaration.role !== 'anyone' && viewer === undefined)
      return await askToSignIn(c, show, isForm ? await keepTyped(c, route, world) : undefined)
    if (isForm) refuseForeignForm(c, world.baseUrl)
    let admitted = await admit(c, declaration, viewer, world)
    tenant = admitted.tenant
    const sent = isForm ? await readForm(c, declaration.form ?? {}, viewer) : undefined
    if (sent !== undefined && viewer !== undefined) {
      // a form may be sent for half a minute, and whoever sends it may be let go meanwhile
      viewer = await consoleAccess.sessions.viewer(sessionId)
      tenant = undefined
      if (declaration.role !== 'anyone' && viewer === undefined)
        throw new Refusal('console_session_over')
      admitted = await admit(c, declaration, viewer, world)
      tenant = admitted.tenant
    }
    const { isReadOnly } = admitted
    const visit = visitOf(c, declaration, viewer, tenant, world, isReadOnly)
    show = (view) =>
      answerView(c, view, { world, viewer, tenant, paths, ...(isReadOnly && { formPages }) })
    const isFresh = viewer !== undefined && isFreshSignIn(viewer, visit.nowMs)
    const lacksProof = declaration.needsFreshSignIn === true && !isFresh && !isReadOnly
    if (lacksProof && !isForm) return c.redirect(signInAddress(visit.address, true), 302)
    const outcome =
      sent !== undefined
        ? await carryOut(
            c,
            route,
            {
              sent,
              visit,
              viewer,
              lacksProof,
              show,
              tooOften: () => savesTooOften(world.rates, viewer, tenant?.tenantId),
              isShownAgain: () => isShownAgain(world.rates, viewer),
            },
            world,
          )
        : await route.handle(visit as never, undefined as never)
    if (outcome instanceof Response) return marked(c, outcome)
    if ('kind' in outcome)
      return c.redirect(await locationOf(outcome, viewer, world, visit.nowMs), 303)
    return await show(outcome)
  } catch (error) {
    if (error instanceof Refusal) return answerRefusal(c, error, show)
    const requestId = c.get('requestId')
    if (!isHangUp(error, c.env?.incoming))
      world.log.error(
        { error: describeError(error), request_id: requestId, path: withoutStopToken(c.req.path) },
        'console failed',
      )
    return answerRefusal(c, new Refusal('internal'), show)
  }
}

/** Whose page it is, and whether they may only look; of a form, and a page for one, that is a refusal. */
async function admit(
  c: ApiContext,
  declaration: Declaration,
  viewer: Viewer | undefined,
  { tenants }: ConsoleWorld,
) {
  const tenant = await entering(declaration.role, c.req.param(), viewer, tenants)
  const isReadOnly = viewer !== undefined && isLookedAtOnly(declaration, viewer, tenant)
  if (isReadOnly && (declaration.method === 'POST' || isForForm(declaration)))
    throw new Refusal('role_read_only')
  return { tenant, isReadOnly }
}

/** Among what they save, though nobody is signed in. */
function keepTyped(c: ApiContext, route: ConsoleRoute, world: ConsoleWorld) {
  return keepSignedOut(c, route, world, (userId) => {
    const person = { userId, changes: [] }
    return savesTooOften(world.rates, person, undefined) !== undefined
  })
}

/** A response that was made elsewhere carries what all of ours do. */
function marked(c: ApiContext, response: Response): Response {
  response.headers.set('X-Request-Id', c.get('requestId'))
  response.headers.set('X-Content-Type-Options', 'nosniff')
  return response
}

/** Navigations come back afterwards; a form that was sent is not, so its page says what to do. */
async function askToSignIn(
  c: ApiContext,
  show: (view: View) => Promise<Response>,
  keptAt: string | undefined,
) {
  const isPage = isNavigation({
    method: c.req.method,
    secFetchMode: c.req.header('sec-fetch-mode') ?? '',
    accept: c.req.header('accept') ?? '',
    requestedWith: c.req.header('x-requested-with') ?? '',
    isUpgrade: false,
  })
  const isRead = c.req.method === 'GET' || c.req.method === 'HEAD'
  if (isPage && isRead) return c.redirect(signInAddress(addressIn(c)), 302)
  return answerRefusal(c, new Refusal('console_session_over'), show, keptAt)
}

function visitOf(
  c: ApiContext,
  { query = {} }: Declaration,
  viewer: Viewer | undefined,
  tenant: Tenant | undefined,
  world: ConsoleWorld,
  isReadOnly: boolean,
) {
  const requestId = c.get('requestId')
  const visit: Visit = {
    path: c.req.param(),
    query: readQuery(c, query),
    actor:
      viewer === undefined
        ? { name: 'console', requestId }
        : { name: `console:${viewer.email}`, id: viewer.userId, requestId },
    requestId,
    nowMs: world.clock.nowMs(),
    address: addressIn(c),
    from: addressOf(c),
    cookies: c.req.header('cookie') ?? '',
    request: c.req.raw,
    proofs: proofsFor(viewer, world, isReadOnly),
  }
  return { ...visit, viewer, tenant }
}

function addressIn(c: ApiContext): string {
  const { pathname, search } = new URL(c.req.url)
  return pathname + search
}
