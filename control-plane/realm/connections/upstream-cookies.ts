/**
 * What a browser keeps while it is at an identity provider, and until an account is connected. All of
 * it is sealed, so it is as we wrote it, and over TLS in cookies that no sibling host can plant: what
 * comes back belongs to the browser that went, to this flow, and to this connection.
 */
import { randomBytes } from 'node:crypto'
import { SECOND_MS, nowSeconds } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { realmCookieName, sessionCookiePath, surplusCookies } from '../realm-cookies.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'

/** One sign-in on its way to a provider and back. */
export interface UpstreamFlow {
  readonly connectionId: string
  /** When the connection was last changed: a flow of other settings is none of these. */
  readonly updatedAt: number
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The sign-in that it is for; null: a test, which lets nobody in. */
  readonly uid: string | null
  /** Who tests. */
  readonly actor: string | null
}

/** Somebody has shown who they are there, and not yet that the account here is theirs. */
export interface PendingLink {
  readonly uid: string
  readonly connectionId: string
  /** When the connection was last changed, as with a flow. */
  readonly updatedAt: number
  readonly issuer: string
  readonly subject: string
  readonly userId: string
}

type Kept<Content> = Content & { readonly until: number }

const FLOW_COOKIE = /^(?:__Host-)?realm_[a-z0-9-]+_upstream_[\w-]{12}$/
const LINK_MS = 15 * 60 * SECOND_MS

export function upstreamCookies(
  { tenant: { tenantId } }: Pick<Realm, 'tenant'>,
  { vault, clock, baseUrl }: Pick<RealmWorld, 'vault' | 'clock' | 'baseUrl'>,
) {
  const isHttps = baseUrl.startsWith('https:')
  const cookie = {
    httpOnly: true,
    sameSite: 'lax',
    signed: false,
    path: sessionCookiePath(tenantId, isHttps),
  } as const
  const flowName = (state: string) =>
    realmCookieName(tenantId, `upstream_${state.slice(0, 12)}`, isHttps)
  const linkName = realmCookieName(tenantId, 'link', isHttps)
  const purposeOf = (kind: string) => `realm.${kind}/${tenantId}`

  const set = (ctx: RealmContext, name: string, kind: string, content: object, ms: number) => {
    const kept = { ...content, until: clock.nowMs() + ms }
    const value = Buffer.from(vault.seal(JSON.stringify(kept), purposeOf(kind))).toString(
      'base64url',
    )
    ctx.cookies.set(name, value, { ...cookie, maxAge: ms })
  }

  function read<Content>(ctx: RealmContext, name: string, kind: string): Content | undefined {
    const value = ctx.cookies.get(name, { signed: false })
    if (value === undefined) return undefined
    try {
      const text = vault.open(Buffer.from(value, 'base64url').toString(), purposeOf(kind))
      const kept = JSON.parse(text) as Kept<Content>
      return clock.nowMs() < kept.until ? kept : undefined
    } catch {
      return undefined
    }
  }

  return {
    /** Begins with its time, so that the oldest make room. */
    newState: () =>
      nowSeconds(clock).toString(36).padStart(7, '0') + randomBytes(32).toString('base64url'),

    giveFlow(ctx: RealmContext, flow: UpstreamFlow): void {
      const most = LIMITS.upstreamCookiesMax - 1
      for (const name of surplusCookies(ctx.get('cookie'), FLOW_COOKIE, most))
        if (name !== flowName(flow.state)) ctx.cookies.set(name, null, cookie)
      set(ctx, flowName(flow.state), 'upstream', flow, LIMITS.upstreamSecondsMax * SECOND_MS)
    },

    flow: (ctx: RealmContext, state: string) =>
      read<UpstreamFlow>(ctx, flowName(state), 'upstream'),

    /** Somebody has been sent to a provider from this browser, and has not come back. */
    isAway(ctx: RealmContext): boolean {
      const begin = realmCookieName(tenantId, 'upstream_', isHttps)
      return (ctx.get('cookie') || '').split(/;\s*/).some((pair) => pair.startsWith(begin))
    },

    endFlow: (ctx: RealmContext, state: string) =>
      void ctx.cookies.set(flowName(state), null, cookie),

    giveLink: (ctx: RealmContext, link: PendingLink) => set(ctx, linkName, 'link', link, LINK_MS),

    /** Of this sign-in and no other. */
    link(ctx: RealmContext, uid: string): PendingLink | undefined {
      const link = read<PendingLink>(ctx, linkName, 'link')
      return link?.uid === uid ? link : undefined
    },
  }
}
