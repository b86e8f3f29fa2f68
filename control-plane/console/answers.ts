/** How the console answers: pages under a strict policy, refusals as pages or as JSON. */
import { html } from 'hono/html'
import type { Refusal } from '../../shared/errors.ts'
import type { ApiContext } from '../http/context.ts'
import { isolateRightToLeft } from '../../shared/right-to-left.ts'
import type { Tenant } from '../tenants/tenants.ts'
import type { Viewer } from '../console-access/console-sessions.ts'
import { withoutFormLinks } from './access/read-only.ts'
import { signInAddress } from './access/return-address.ts'
import type { AssetUrls } from './assets.ts'
import { linkButton } from '../pages/blocks/form.ts'
import { layout } from './layout.ts'
import type { Happened } from './blocks/receipt.ts'
import type { Html } from '../pages/html.ts'
import type { DoneNote } from './receipts.ts'
import type { View, Visit } from './route.ts'
import type { ConsoleWorld } from './world.ts'

interface Shown {
  readonly world: ConsoleWorld
  readonly viewer: Viewer | undefined
  readonly tenant: Tenant | undefined
  readonly paths: ReadonlySet<string>
  /** Whoever looks may change nothing here, and is led to none of these. */
  readonly formPages?: readonly RegExp[]
}

export async function answerView(
  c: ApiContext,
  view: View,
  { world, viewer, tenant, paths, formPages = [] }: Shown,
): Promise<Response> {
  const { baseUrl } = world
  const assets = await world.assets.urls()
  const shown = view.tenant === undefined && tenant !== undefined ? { ...view, tenant } : view
  const page = layout(shown, {
    baseUrl,
    assets,
    paths,
    viewer,
    proofs: proofsFor(viewer, world),
    done: happened(c, world, viewer),
  })
  const text = isolateRightToLeft(withoutFormLinks(String(await page), formPages))
  return c.html(text, view.status ?? 200, pageHeaders(assets, baseUrl, view.hasCharts === true))
}

/** For the forms of a page of whoever is signed in. */
export const proofsFor = (
  viewer: Viewer | undefined,
  { consoleAccess: { proofs } }: ConsoleWorld,
  isReadOnly = false,
): Visit['proofs'] =>
  viewer && {
    csrf: proofs.csrf(viewer.userId),
    newFormId: () => proofs.newFormId(viewer.userId),
    isReadOnly,
  }

/** What the form before has come to; of a note that we have written for this very person. */
function happened(
  c: ApiContext,
  { consoleAccess: { proofs }, receipts }: ConsoleWorld,
  viewer: Viewer | undefined,
): Happened | undefined {
  const given = c.req.query('done')
  if (given === undefined || viewer === undefined) return undefined
  const note = proofs.readNote(viewer.userId, given) as DoneNote | undefined
  if (note === undefined) return undefined
  const { pathname, search } = new URL(c.req.url)
  return {
    said: note.said,
    receipt: receipts.stateOf(note, viewer),
    followUrl: `/console/receipt?of=${encodeURIComponent(given)}`,
    againUrl: pathname + search,
  }
}

/**
 * No inline script or style at all. Forms go to ourselves alone: the realm, where a sign-out and a
 * sign-in lead, is of the same origin.
 */
function pageHeaders(
  { style, script, charts }: AssetUrls,
  baseUrl: string,
  hasCharts: boolean,
): Record<string, string> {
  const { origin } = new URL(baseUrl)
  const at = (paths: readonly (string | undefined)[]) => {
    const sources = paths.flatMap((path) => (path === undefined ? [] : [origin + path]))
    return sources.length === 0 ? "'none'" : sources.join(' ')
  }
  const policy = [
    "default-src 'none'",
    `style-src ${at([style, hasCharts ? charts?.style : undefined])}`,
    `script-src ${at([script, hasCharts ? charts?.script : undefined])}`,
    "connect-src 'self'",
    "frame-src 'self'", // previews of the sign-in page
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Frame-Options': 'DENY',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    // with `no-referrer` browsers send `Origin: null` along with our own forms
    'Referrer-Policy': 'same-origin',
    ...(origin.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  }
}

export async function answerRefusal(
  c: ApiContext,
  refusal: Refusal,
  show: (view: View) => Promise<Response>,
  /** Where what was typed waits. */
  keptAt?: string,
): Promise<Response> {
  const { retry_after: retryAfter } = refusal.fields
  if (typeof retryAfter === 'number') c.header('Retry-After', String(retryAfter))
  if (isForScripts(c)) return c.json(refusal.body(), refusal.status as 400)
  return show(refusalView(c, refusal, keptAt))
}

export function isForScripts(c: ApiContext): boolean {
  const accept = c.req.header('accept') ?? ''
  return /\bapplication\/json\b|\btext\/event-stream\b/.test(accept)
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  401: 'You are not signed in',
  403: 'Access denied',
  404: 'Page not found',
  409: 'This cannot be done now',
  410: 'This link has expired',
  413: 'Request too large',
  415: 'Invalid request',
  429: 'Too many requests',
  500: 'Something went wrong on our side',
  503: 'Temporarily unavailable',
}

function refusalView(c: ApiContext, refusal: Refusal, keptAt: string | undefined): View {
  const { status, code } = refusal
  const known = status in TITLES ? status : 400
  return {
    title: code === 'fresh_sign_in_needed' ? 'Confirm it’s you' : (TITLES[known] ?? ''),
    status: (known === 415 ? 400 : known) as NonNullable<View['status']>,
    content: html`<div class="card narrow">
      <p>${sentenceOf(refusal, keptAt !== undefined)}</p>
      ${keptAt === undefined ? '' : html`<p>What you typed is kept for an hour, and comes back after you sign in. Passwords and keys are not.</p>`}
      <p class="hint">${code} · request ${c.get('requestId')}</p>
      ${wayOn(c, code, keptAt)}
    </div>`,
  }
}

function sentenceOf({ status, code, detail }: Refusal, isKept: boolean): string {
  if (code === 'fresh_sign_in_needed')
    return `This needs a recent sign-in. Sign in again, and ${isKept ? 'go on with the form' : 'repeat this action'}.`
  return status === 404
    ? 'It does not exist, or you don’t have access. An administrator can give you access.'
    : detail
}

function wayOn(c: ApiContext, code: string, keptAt: string | undefined): Html {
  const page = keptAt ?? pageBefore(c)
  if (code === 'console_session_over')
    return linkButton(signInAddress(page), 'Sign in and go back to the page')
  if (code === 'fresh_sign_in_needed')
    return linkButton(signInAddress(page, true), 'Sign in again and go back')
  return linkButton(page, page === '/console' ? 'To the console' : 'Back to the page', 'quiet')
}

/** The page that a form was on; a form is not an address to come back to. */
function pageBefore(c: ApiContext): string {
  const referer = c.req.header('referer') ?? ''
  if (c.req.method === 'GET' || !URL.canParse(referer)) return '/console'
  const { pathname, search } = new URL(referer)
  return pathname.startsWith('/console') ? pathname + search : '/console'
}
