/** Who has signed in with a browser before: by its session, or by the cookie that it keeps. */
import type { KoaContextWithOIDC } from 'oidc-provider'
import { deviceTokensIn } from '../accounts/devices.ts'
import { cookieValues, pathCookieName } from './realm-cookies.ts'
import type { RealmWorld } from './world.ts'

export async function personAt(
  ctx: KoaContextWithOIDC,
  { devices, baseUrl }: Pick<RealmWorld, 'devices' | 'baseUrl'>,
  tenantId: string,
): Promise<string | undefined> {
  const { accountId } = ctx.oidc.session ?? {}
  if (accountId !== undefined) return accountId
  const name = pathCookieName(tenantId, 'device', baseUrl.startsWith('https:'))
  const tokens = deviceTokensIn(cookieValues(ctx.get('cookie'), name))
  return tokens.length === 0 ? undefined : devices.firstOwner(tenantId, tokens)
}
