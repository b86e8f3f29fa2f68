import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider'
import { isUnavailable } from './answers.ts'
import { errors } from './oidc.ts'
import { authorizeAgainUrl } from './return-urls.ts'
import { requestIdOf, showMessage } from './show.ts'
import type { Realm, RealmWorld } from './world.ts'

/** What the provider cannot send back to the application, told to the person who is there. */
export async function showProviderError(
  realm: Realm,
  world: Pick<RealmWorld, 'baseUrl'>,
  ctx: KoaContextWithOIDC,
  out: ErrorOut,
  error: unknown,
) {
  if (error instanceof errors.SessionNotFound && ctx.oidc.route === 'resume')
    return showResumeGone(realm, world, ctx)
  if (isUnavailable(error)) return showMessage(ctx, world, realm, 'unavailable')
  const { status } = ctx
  const uiLocales = ctx.oidc.params?.ui_locales
  const details = [out.error, out.error_description, requestIdOf(ctx)]
  await showMessage(ctx, world, realm, status >= 500 ? 'internal' : 'request_wrong', {
    details: details.filter((detail) => typeof detail === 'string'),
    uiLocales,
  })
  ctx.status = status
}

/**
 * The way back from the sign-in page is gone once it has been taken. Whoever takes it again (a
 * reload, the back button, a second click) is signed in by now and simply goes on.
 */
async function showResumeGone(
  realm: Realm,
  world: Pick<RealmWorld, 'baseUrl'>,
  ctx: KoaContextWithOIDC,
) {
  const uid: unknown = (ctx.params as Record<string, unknown>).uid
  const known = typeof uid === 'string' ? await realm.records.signIn(uid) : undefined
  const session = ctx.oidc.session
  if (known !== undefined && session?.accountId !== undefined) {
    ctx.status = 303
    ctx.redirect(authorizeAgainUrl(realm, known.payload, session.loginTs))
  } else
    await showMessage(
      ctx,
      world,
      realm,
      known?.isFinished === false ? 'cookie_missing' : 'expired',
      { uiLocales: known?.payload.params?.ui_locales },
    )
}
