/** A form of one sign-in comes back: from a page of ours, in the browser whose sign-in it is. */
import { isFromOwnPage, readForm } from '../../http/form.ts'
import { showMessage } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { browserSignInOf, whereFrom, type BrowserSignIn } from './browser-sign-in.ts'

interface Submitted {
  readonly signIn: BrowserSignIn
  readonly form: Awaited<ReturnType<typeof readForm>>
}

/** undefined: it has been answered already. */
export async function submittedForm(
  ctx: RealmContext,
  realm: Realm,
  world: RealmWorld,
  uid: string,
): Promise<Submitted | undefined> {
  if (!isFromOwnPage(ctx.req.headers, new URL(world.baseUrl).origin)) {
    await showMessage(ctx, world, realm, 'cross_site')
    return undefined
  }
  const signIn = await browserSignInOf(ctx, realm, world, uid)
  if (signIn === undefined) return undefined
  if (realm.tenant.licenceBlocksSignin) {
    await showMessage(ctx, world, realm, 'licence_blocked', whereFrom(signIn))
    return undefined
  }
  return { signIn, form: await readForm(ctx.req) }
}
