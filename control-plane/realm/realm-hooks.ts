/** Who is signed in, for how long, and with which grant: what the provider asks the realm. */
import { decodeJwt } from 'jose'
import type { ClientAuthorizationState, KoaContextWithOIDC } from 'oidc-provider'
import { Refusal } from '../../shared/errors.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import { ACR_SECOND_FACTOR } from '../policy/verdict.ts'
import { addressOf } from '../listener/client-address.ts'
import { notBeforeOf } from '../store/queries/revocations.ts'
import { toldClaims } from './clients/told-claims.ts'
import { lacksDevice } from './session-device.ts'
import { isSessionOver } from './session-over.ts'
import { wantsSecondFactor } from './sign-in/browser-sign-in.ts'
import type { RealmWorld } from './world.ts'

/**
 * `clientId`: another application that asks. `token`: by which it asks; one from before a revocation may
 * still be kept for a while.
 */
export async function findAccount(
  world: RealmWorld,
  tenantId: string,
  userId: string,
  clientId: string | undefined,
  token?: { readonly kind: string; readonly iat: number; readonly sid?: string | undefined },
) {
  const user = await world.users.get(tenantId, userId).catch((error: unknown) => {
    if (error instanceof Refusal && error.code === 'user_not_found') return undefined
    throw error
  })
  if (user === undefined || user.isDisabled) return undefined
  if (token?.kind === 'AccessToken') {
    const notBefore = await notBeforeOf(world.store.read, tenantId, userId, token.sid)
    if (token.iat < notBefore) return undefined
  }
  return {
    accountId: userId,
    claims: (use: string) => toldClaims(world, user, { clientId, use }),
  }
}

/**
 * `clientId` is the tenant's application, under whose name the session is kept whoever asks: another
 * application is given the same session, with a grant of its own, and loses it with that one's end.
 *
 * Every real sign-in begins a session of its own, with a fresh `sid` and a grant of its own, so
 * that one can end without the other and nothing that was known before it is worth anything
 * after it (session fixation).
 */
export async function loadGrant(ctx: KoaContextWithOIDC, clientId: string) {
  const { session, account, client, result, provider } = ctx.oidc
  if (session === undefined || account === undefined || client === undefined) return undefined
  const { clientId: asking } = client
  const isFresh = result?.login !== undefined
  const grantId = isFresh ? undefined : session.grantIdFor(asking)
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId)
  if (known !== undefined && known.accountId === account.accountId) return known

  // One that is lost is made anew and changes nothing else: where and when the session began, and its
  // `sid`, are known of a sign-in alone, and nobody gets others by having grants pushed out.
  const isAnothers = known !== undefined
  if (isFresh || isAnothers || session.sidFor(clientId) === undefined)
    session.authorizations = {
      [clientId]: {
        ip: addressOf(ctx.req),
        userAgent: ctx.get('user-agent'),
        deviceId: (result?.device as { id?: string } | undefined)?.id,
        ...(result?.elsewhere as
          | Pick<ClientAuthorizationState, 'provenAt' | 'upstream'>
          | undefined),
      },
    }
  session.ensureClientContainer(clientId)
  const sid = session.sidFor(clientId)
  if (sid !== undefined) session.sidFor(asking, sid)
  const grant = new provider.Grant({ clientId: asking, accountId: account.accountId })
  grant.addOIDCScope('openid profile email')
  await grant.save()
  return grant
}

export async function mustSignInAgain(
  ctx: KoaContextWithOIDC,
  world: RealmWorld,
  tenant: Tenant,
  clientId: string,
): Promise<boolean> {
  const { session, account, result } = ctx.oidc
  if (session?.accountId === undefined) return false // asked for anyway
  if (account === undefined) return true // removed or disabled since
  const isFresh = result?.login !== undefined
  return isSessionOver(ctx, world, { tenant, clientId }, session, isFresh)
}

/**
 * The application asks for a second factor that the session was opened without, or the policy has
 * come to. Who has none is only asked to enrol one where the policy demands it of everybody.
 */
export async function mustStepUp(
  { oidc: { session, account, params, result } }: KoaContextWithOIDC,
  { factors, policies }: Pick<RealmWorld, 'factors' | 'policies'>,
  { tenantId }: Pick<Tenant, 'tenantId'>,
): Promise<boolean> {
  if (session?.accountId === undefined || account === undefined) return false
  if (result?.login !== undefined || session.acr === ACR_SECOND_FACTOR) return false
  const { mode } = (await policies.of(tenantId)).mfa
  if (mode === 'required') return true
  if (!wantsSecondFactor(params?.acr_values)) return false
  const owner = { tenantId, userId: account.accountId }
  return (await factors.kindsOf(owner)).length > 0
}

/** Asked of a session that goes on; who signs in right now has been asked already. */
export async function mustProveDevice(
  { oidc: { session, account, result } }: KoaContextWithOIDC,
  world: RealmWorld,
  { tenantId }: Pick<Tenant, 'tenantId'>,
  clientId: string,
): Promise<boolean> {
  if (session?.accountId === undefined || account === undefined) return false
  if (result?.login !== undefined) return false
  return lacksDevice(world, tenantId, clientId, session)
}

/** The hint was verified when the request came in; now it only says whom it means. */
export function isOtherAccount({ oidc: { params, session } }: KoaContextWithOIDC): boolean {
  const hint = params?.id_token_hint
  if (typeof hint !== 'string' || session?.accountId === undefined) return false
  return decodeJwt(hint).sub !== session.accountId
}
