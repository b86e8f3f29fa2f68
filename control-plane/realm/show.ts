/** Pages and refusals as answers of the provider's own server. */
import type { Html } from './pages/layout.ts'
import type { MessageKind } from './answers.ts'
import { message, MESSAGES, wantsPage } from './answers.ts'
import type { Realm, RealmContext } from './realm.ts'
import type { RealmWorld } from './world.ts'

/** The same in the answer, the access log, the audit trail and on the page. */
export function requestIdOf({ res }: Pick<RealmContext, 'res'>): string {
  return String(res.getHeader('X-Request-Id') ?? '')
}

export async function showPage(ctx: RealmContext, status: number, page: Html) {
  ctx.status = status
  ctx.type = 'html'
  ctx.body = String(await page)
}

export interface MessageExtras {
  /** Where the person came from; the tenant's first address where that is not known. */
  readonly applicationUrl?: string | undefined
  /** What the person can quote to support. */
  readonly details?: readonly string[]
}

export async function showMessage(
  ctx: RealmContext,
  { baseUrl }: Pick<RealmWorld, 'baseUrl'>,
  realm: Pick<Realm, 'tenant' | 'applicationUrls'>,
  kind: MessageKind,
  { applicationUrl = realm.applicationUrls[0], details = [] }: MessageExtras = {},
) {
  const { status, code, text } = MESSAGES[kind]
  if (status === 503) ctx.set('Retry-After', '60')
  if (!wantsPage(ctx.req, true)) {
    ctx.status = status
    ctx.body = { error: code, detail: text.intro }
    return
  }
  const { host } = new URL(baseUrl)
  const { name } = realm.tenant
  await showPage(ctx, status, message(kind, { host, name, applicationUrl, details }))
}
