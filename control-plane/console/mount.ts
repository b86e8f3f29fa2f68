/**
 * The life of a request to the console. Read this first: who asks, may they, is it their own form,
 * then one call and one page. What may not be seen and what does not exist are answered alike.
 */
import type { Hono } from 'hono'
import { Refusal } from '../../shared/errors.ts'
import { isNavigation } from '../../shared/enforcement/navigation.ts'
import { LIMITS } from '../../shared/limits.ts'
import { describeError } from '../../shared/log.ts'
import type { RateLimits } from '../../shared/rate-limits.ts'
import { addressOf, countedAddressOf, type ApiContext, type ApiEnv } from '../http/context.ts'
import { readBytes } from '../http/body.ts'
import { sendShared } from '../http/large-answers.ts'
import { readQuery } from '../http/query.ts'
import { isHangUp } from '../listener/hang-up.ts'
import { noteGood } from '../listener/known-credentials.ts'
import { isFromOwnPage } from '../http/form.ts'
import type { Tenant } from '../tenants/tenants.ts'
import type { Viewer } from '../console-access/console-sessions.ts'
import { readSessionCookie } from './access/cookies.ts'
import { entering } from './access/entering.ts'
import type { FormAnswer } from './form-answers.ts'
import { isFreshSignIn } from './access/fresh-sign-in.ts'
import type { KeptForm } from '../console-access/kept-forms.ts'
import { signInAddress } from './access/return-address.ts'
import { answerRefusal, answerView, isForScripts } from './answers.ts'
import { ASSETS_PATH } from './assets.ts'
import {
  checkForm,
  CSRF_FIELD,
  FORM_ID_FIELD,
  kept,
  readSentForm,
  refusedAttempt,
  type SentForm,
  type Attempt,
} from './form-values.ts'
import type { ConsoleRoute, Declaration, Done, Outcome, View, Visit } from './route.ts'
import { unsentAddress } from './unsent-routes.ts'
import type { ConsoleWorld } from './world.ts'

export interface MountWorld extends ConsoleWorld {
  readonly rates: RateLimits
}

export function mountConsole(
  app: Hono<ApiEnv>,
  routes: readonly ConsoleRoute[],
  world: MountWorld,
): void {
  const paths = new Set(routes.map(({ declaration }) => declaration.path))
  app.get(`${ASSETS_PATH}:name`, (c) => answerAsset(c, world))
  for (const route of routes) {
    const path = route.declaration.path.replaceAll(/\{([^}]+)\}/g, ':$1')
    app.on(route.declaration.method, path, (c) => answer(c, route, world, paths))
  }
  // typed with a slash at its end; where it leads is still ours, and answers as it always does
  app.get('/console/*', (c, next) => {
    const bare = c.req.path.replace(/\/+$/, '')
    if (bare === c.req.path) return next()
    return Promise.resolve(marked(c, c.redirect(bare + new URL(c.req.url).search, 308)))
  })
  // whoever is not signed in does not learn which pages there are
  const elsewhere: ConsoleRoute = {
    declaration: { method: 'GET', path: '/console/*', role: 'viewer' },
    handle: () => Promise.reject(new Refusal('not_found')),
  }
  app.all('/console/*', (c) => answer(c, elsewhere, world, paths))
}

async function answerAsset(c: ApiContext, { assets }: MountWorld): Promise<Response> {
  const asset = await assets.find(c.req.path)
  if (asset === undefined) return c.text('There is nothing at this address.', 404)
  const isPacked = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(
    c.req.header('accept-encoding') ?? '',
  )
  return sendShared(c, isPacked ? asset.gzipped : asset.bytes, {
    'Content-Type': asset.mediaType,
    'Cache-Control': 'public, max-age=31536000, immutable',
    ...(isPacked && { 'Content-Encoding': 'gzip' }),
    Vary: 'Accept-Encoding',
  })
}

async function answer(
  c: ApiContext,
  route: ConsoleRoute,
  world: MountWorld,
  paths: ReadonlySet<string>,
): Promise<Response> {
  const { consoleAccess } = world
  const sessionId = readSessionCookie(c.req.header('cookie') ?? '', world.baseUrl)
  let viewer: Viewer | undefined
  let tenant: Tenant | undefined
  const show = (view: View) => answerView(c, view, { world, viewer, tenant, paths })
  try {
    world.rates.take('console', countedAddressOf(c), LIMITS.rateConsole)
    viewer = await consoleAccess.sessions.viewer(sessionId)
    if (viewer !== undefined) noteGood(c.env?.incoming)
    const { declaration } = route
    const isForm = declaration.method === 'POST'
    if (declaration.role !== 'anyone' && viewer === undefined)
      return await askToSignIn(c, show, isForm ? await keepSignedOut(c, route, world) : undefined)
    if (isForm) refuseForeignForm(c, world.baseUrl)
    tenant = await entering(declaration.role, c.req.param(), viewer, world.tenants)
    const visit = visitOf(c, declaration, viewer, tenant, world)
    const lacksProof = declaration.needsFreshSignIn === true && !isFresh(viewer, world)
    if (lacksProof && !isForm) return c.redirect(signInAddress(visit.address, true), 302)
    const outcome = isForm
      ? await carryOut(c, route, { visit, viewer, lacksProof, show }, world)
      : await route.handle(visit as never, undefined as never)
    if (outcome instanceof Response) return marked(c, outcome)
    if ('kind' in outcome) return await goOn(c, outcome, visit, viewer, world)
    return await show(outcome)
  } catch (error) {
    if (error instanceof Refusal) return answerRefusal(c, error, show)
    const requestId = c.get('requestId')
    if (!isHangUp(error, c.env?.incoming))
      world.log.error(
        { error: describeError(error), requestId, path: c.req.path },
        'console failed',
      )
    return answerRefusal(c, new Refusal('internal'), show)
  }
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

/** Only of a page that we have made for somebody; whoever it was is the one who gets it back. */
async function keepSignedOut(
  c: ApiContext,
  route: ConsoleRoute,
  world: MountWorld,
): Promise<string | undefined> {
  if (isForScripts(c) || route.again === undefined) return undefined
  refuseForeignForm(c, world.baseUrl)
  const { proofs } = world.consoleAccess
  const sent = await readForm(c, route.declaration.form ?? {}, undefined).catch(noneIfTooLarge)
  if (sent === undefined) return undefined
  const userId = proofs.csrfHolder(sent.values.get(CSRF_FIELD) ?? '')
  if (userId === undefined) return undefined
  if (!proofs.isFormId(userId, sent.values.get(FORM_ID_FIELD) ?? '')) return undefined
  return keepForm(c, route, sent, userId, 'session_over', world)
}

async function keepForm(
  c: ApiContext,
  { declaration: { path, form = {} } }: ConsoleRoute,
  sent: SentForm,
  userId: string,
  why: KeptForm['why'],
  { consoleAccess: { keptForms } }: MountWorld,
): Promise<string> {
  const { values, choices } = kept(form, sent)
  const parameters = c.req.param() as Readonly<Record<string, string>>
  const found = { path, parameters, values: [...values], choices: [...choices], why }
  return unsentAddress(await keptForms.keep(userId, found))
}

function refuseForeignForm(c: ApiContext, baseUrl: string) {
  const site = c.req.header('sec-fetch-site')
  const origin = c.req.header('origin')
  const headers = {
    ...(site !== undefined && { 'sec-fetch-site': site }),
    ...(origin !== undefined && { origin }),
  }
  if (!isFromOwnPage(headers, new URL(baseUrl).origin)) throw new Refusal('cross_site_form')
}

/** A browser says so. A form of nobody knows where is not shown to be sent with one more click. */
function isSurelyOwn(c: ApiContext, baseUrl: string): boolean {
  const isOwnOrigin = c.req.header('origin') === new URL(baseUrl).origin
  return isOwnOrigin || c.req.header('sec-fetch-site') === 'same-origin'
}

function visitOf(
  c: ApiContext,
  { query = {} }: Declaration,
  viewer: Viewer | undefined,
  tenant: Tenant | undefined,
  { consoleAccess, clock }: MountWorld,
) {
  const requestId = c.get('requestId')
  const { proofs } = consoleAccess
  const userId = viewer?.userId
  const visit: Visit = {
    path: c.req.param(),
    query: readQuery(c, query),
    actor:
      viewer === undefined
        ? { name: 'console', requestId }
        : { name: `console:${viewer.email}`, id: viewer.userId, requestId },
    requestId,
    nowMs: clock.nowMs(),
    address: addressIn(c),
    from: addressOf(c),
    cookies: c.req.header('cookie') ?? '',
    request: c.req.raw,
    proofs:
      userId === undefined
        ? undefined
        : { csrf: proofs.csrf(userId), newFormId: () => proofs.newFormId(userId) },
  }
  return { ...visit, viewer, tenant }
}

function isFresh(viewer: Viewer | undefined, { clock }: MountWorld): boolean {
  return viewer !== undefined && isFreshSignIn(viewer, clock.nowMs())
}

interface Asked {
  readonly visit: Visit
  readonly viewer: Viewer | undefined
  /** It asks who is there, and nobody has proved that lately. */
  readonly lacksProof: boolean
  readonly show: (view: View) => Promise<Response>
}

async function carryOut(
  c: ApiContext,
  route: ConsoleRoute,
  { visit, viewer, lacksProof, show }: Asked,
  world: MountWorld,
): Promise<Outcome> {
  const { declaration, handle, again } = route
  const { form = {}, body: schema, isOnce = false } = declaration
  const sent = await readForm(c, form, viewer)
  const formId = proveForm(sent, viewer, world)
  const showAgain = async (attempt: Attempt, status: View['status']) => {
    if (again === undefined) return undefined
    return { ...(await again(visit as never, attempt)), status: status ?? 422 }
  }
  if (formId === FORGED) {
    const stale = new Refusal('form_stale')
    const shown =
      isSurelyOwn(c, world.baseUrl) && !lacksProof
        ? await showAgain(refusedAttempt(form, sent, stale), 409)
        : undefined
    if (shown === undefined) throw new Refusal('cross_site_form')
    return shown
  }
  if (lacksProof) {
    const isKept = viewer !== undefined && again !== undefined && !isForScripts(c)
    const keptAt = isKept
      ? await keepForm(c, route, sent, viewer.userId, 'fresh_sign_in', world)
      : undefined
    return answerRefusal(c, new Refusal('fresh_sign_in_needed'), show, keptAt)
  }
  const checked = checkForm(form, schema, sent)
  if (checked.kind === 'wrong') {
    const shown = await showAgain(checked.attempt, 422)
    if (shown !== undefined) return shown
    const [field = '', wish = 'The form is not complete.'] = [...checked.attempt.problems][0] ?? []
    throw new Refusal('field_invalid', { field }, checked.attempt.problem ?? `${field}: ${wish}`)
  }
  const { formAnswers } = world
  const { spentForms } = world.consoleAccess
  const onceId = isOnce ? formId : undefined
  const content = JSON.stringify([c.req.path, checked.body ?? null])
  const known = onceId === undefined ? undefined : await spentForms.claim(onceId, content)
  try {
    if (onceId === undefined) return await handle(visit as never, checked.body as never)
    const key = `${onceId} ${c.req.path}`
    if (known !== undefined) {
      if (!known.isSame) throw new Refusal('form_changed')
      const answer = known.location ?? (await formAnswers.of(key))
      if (answer === undefined) throw new Refusal('form_spent')
      return typeof answer === 'string' ? c.redirect(answer, 303) : answer
    }
    const carriedOut = Promise.resolve(handle(visit as never, checked.body as never))
    const settled = carriedOut.then((outcome) => settle(outcome, onceId, visit, viewer, world))
    formAnswers.keep(key, settled)
    const answer = await settled
    return typeof answer === 'string' ? c.redirect(answer, 303) : (answer ?? (await carriedOut))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error // who knows how far it came: it stays spent
    if (error.code === 'form_spent') throw error
    if (onceId !== undefined && known === undefined) await spentForms.release(onceId)
    const shown = await showAgain(refusedAttempt(form, sent, error), statusOf(error))
    if (shown === undefined) throw error
    return shown
  }
}

/** A page that is shown once has no address, so its form stays spent without one. */
async function settle(
  outcome: Outcome,
  formId: string,
  visit: Visit,
  viewer: Viewer | undefined,
  world: MountWorld,
): Promise<FormAnswer> {
  if (outcome instanceof Response) return undefined
  if (!('kind' in outcome)) return outcome
  const location = await locationOf(outcome, viewer, world, visit.nowMs)
  await world.consoleAccess.spentForms.settle(formId, location)
  return location
}

async function readForm(
  c: ApiContext,
  shape: Declaration['form'] & object,
  viewer: Viewer | undefined,
): Promise<SentForm> {
  const mediaType = c.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== 'application/x-www-form-urlencoded')
    throw new Refusal('media_type_unsupported', {}, 'Send the form as a form.')
  const isStranger = viewer === undefined
  const most = isStranger ? LIMITS.consoleStrangersFormBytesMax : LIMITS.consoleFormBytesMax
  const bytes = await readBytes(c, most)
  return readSentForm(Buffer.from(bytes).toString('utf8'), shape)
}

/** Who is not signed in is told so, and that more than a stranger's form is not kept. */
function noneIfTooLarge(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.code !== 'body_too_large') throw error
}

const FORGED = Symbol('no form of a page that this person was shown lately')

/** Before anybody has signed in there is nothing to forge; what they send proves itself. */
function proveForm(
  { values }: SentForm,
  viewer: Viewer | undefined,
  { consoleAccess: { proofs } }: MountWorld,
): string | undefined | typeof FORGED {
  if (viewer === undefined) return undefined
  const { userId } = viewer
  const formId = values.get(FORM_ID_FIELD) ?? ''
  const isOurs =
    proofs.isCsrf(userId, values.get(CSRF_FIELD) ?? '') && proofs.isFormId(userId, formId)
  return isOurs ? formId : FORGED
}

const statusOf = ({ status }: Refusal): View['status'] =>
  status === 400 || status === 404 ? 422 : (status as View['status'])

async function goOn(
  c: ApiContext,
  outcome: Done,
  visit: Visit,
  viewer: Viewer | undefined,
  world: MountWorld,
) {
  return c.redirect(await locationOf(outcome, viewer, world, visit.nowMs), 303)
}

async function locationOf(
  outcome: Done,
  viewer: Viewer | undefined,
  { receipts, consoleAccess: { proofs } }: MountWorld,
  startedMs: number,
): Promise<string> {
  if (viewer === undefined) return outcome.location
  const note = await receipts.noteOf(outcome, startedMs, viewer)
  const url = new URL(outcome.location, 'http://console.invalid')
  url.searchParams.set('done', proofs.writeNote(viewer.userId, note))
  return url.pathname + url.search + url.hash
}

function addressIn(c: ApiContext): string {
  const { pathname, search } = new URL(c.req.url)
  return pathname + search
}
