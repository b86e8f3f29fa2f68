/** Pages and refusals as answers of the provider's own server. */
import { message, messageJson, MESSAGES, pageHeaders, placeOfTenant, wantsPage } from './answers.ts'
import type { MessageKind } from './answers.ts'
import { isolateRightToLeft } from '../../shared/right-to-left.ts'
import type { Page, Place } from './pages/layout.ts'
import { issuerOf } from '../../shared/issuer.ts'
import { passkeyScriptUrl } from './sign-in/passkey-script.ts'
import { textsFor } from './pages/texts/languages.ts'
import type { Realm, RealmContext, RealmWorld } from './world.ts'

/** The same in the answer, the access log, the audit trail and on the page. */
export function requestIdOf({ res }: Pick<RealmContext, 'res'>): string {
  return String(res.getHeader('X-Request-Id') ?? '')
}

/** What every page of a realm is made with. `uiLocales` is what the application asked for. */
export function placeOf(
  ctx: Pick<RealmContext, 'req'>,
  { baseUrl }: Pick<RealmWorld, 'baseUrl'>,
  { tenant }: Pick<Realm, 'tenant'>,
  uiLocales?: unknown,
): Place & { readonly name: string } {
  const acceptLanguage = ctx.req.headers['accept-language']
  const texts = textsFor({ uiLocales, acceptLanguage })
  const scriptUrl = passkeyScriptUrl({ issuer: issuerOf(baseUrl, tenant.tenantId) })
  return { ...placeOfTenant(baseUrl, tenant), texts, name: tenant.name, scriptUrl }
}

export async function showPage(ctx: RealmContext, status: number, page: Page) {
  ctx.status = status
  ctx.set(pageHeaders(page))
  ctx.body = isolateRightToLeft(String(await page.html))
}

interface MessageExtras {
  /** Where the person came from; the tenant's first address where that is not known. */
  readonly applicationUrl?: string | undefined
  /** What the person can quote to support. */
  readonly details?: readonly string[]
  readonly uiLocales?: unknown
}

export async function showMessage(
  ctx: RealmContext,
  world: Pick<RealmWorld, 'baseUrl'>,
  realm: Pick<Realm, 'tenant' | 'applicationUrls'>,
  kind: MessageKind,
  { applicationUrl = realm.applicationUrls[0], details = [], uiLocales }: MessageExtras = {},
) {
  const { status } = MESSAGES[kind]
  if (status === 503) ctx.set('Retry-After', '60')
  if (wantsPage(ctx.req, true)) {
    const place = placeOf(ctx, world, realm, uiLocales)
    return showPage(ctx, status, message(kind, { place, applicationUrl, details }))
  }
  ctx.status = status
  ctx.body = messageJson(kind)
}
