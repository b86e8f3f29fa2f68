/** Whose account this is: whoever holds a session of the realm that may still be continued. */
import { SECOND_MS } from '../../../shared/clock.ts'
import type { User } from '../../accounts/users.ts'
import { noteGood } from '../../listener/known-credentials.ts'
import { ACR_SECOND_FACTOR } from '../../policy/verdict.ts'
import { lacksDevice } from '../session-device.ts'
import { isSessionOver } from '../session-over.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'

export interface Holder {
  readonly user: User
  readonly sid: string
  /** Of this session in this browser, and of nothing else: values in forms are made from it. */
  readonly mark: string
  readonly signedInAtMs: number
  /** When they proved who they are: at a provider that may have been before. */
  readonly provenAtMs: number
  readonly hasShownFactor: boolean
  /** Shows that a form was sent from a page of this session. */
  readonly csrf: string
}

export async function holderOf(
  ctx: RealmContext,
  realm: Realm,
  world: RealmWorld,
): Promise<Holder | undefined> {
  const { provider, clientId, tenant } = realm
  const { tenantId } = tenant
  const session = await provider.Session.get(ctx)
  const sid = session.sidFor(clientId)
  if (session.accountId === undefined || sid === undefined) return undefined
  const user = await world.users.find(tenantId, session.accountId)
  if (user === undefined || user.isDisabled) return undefined
  if (await isSessionOver(ctx, world, realm, session)) return undefined
  // a copied cookie, or a machine that nobody manages, changes no password either
  if (await lacksDevice(world, tenantId, clientId, session)) return undefined
  noteGood(ctx.req)
  const signedInAt = session.loginTs ?? 0
  const { provenAt = signedInAt } = session.authorizations?.[clientId] ?? {}
  const mark = `${tenantId}/${session.uid}/${sid}/${user.userId}`
  return {
    user,
    sid,
    mark,
    signedInAtMs: signedInAt * SECOND_MS,
    provenAtMs: Math.min(signedInAt, provenAt) * SECOND_MS,
    hasShownFactor: session.acr === ACR_SECOND_FACTOR,
    csrf: world.vault.hash(`realm.account/${mark}`),
  }
}
