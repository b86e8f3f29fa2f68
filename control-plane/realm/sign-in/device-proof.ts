/**
 * A sign-in learns on which machine its browser runs. The browser goes from here to the agent and
 * comes back with a code (`devices/proofs.ts`), in a tab of its own; the first page asks meanwhile
 * whether that is done. Everything is for the browser alone that has given the password.
 */
import { readFileSync } from 'node:fs'
import { addressOf } from '../../listener/client-address.ts'
import { isProofDemanded } from '../../policy/device.ts'
import { asKnown } from '../../store/precedence.ts'
import { addFiguresOf } from '../../store/queries/figures.ts'
import { deviceCheckedPage, deviceFailedPage } from '../pages/device-page.ts'
import { placeOf, requestIdOf, showMessage, showPage } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { attemptCookies } from './attempt-cookie.ts'
import { isOfBrowser, stateOf, withState } from './attempt-state.ts'
import { browserSignInOf } from './browser-sign-in.ts'
import { withShownDevice } from './shown-device.ts'

/** What is counted of a challenge that another browser brings. */
const FOREIGN = { outcome: 'denied', reason: 'device_other_browser', count: 1 } as const
const BEGIN_PATH = /^\/sign-in\/([A-Za-z0-9_-]{20,64})\/device$/
const STATE_PATH = /^\/sign-in\/([A-Za-z0-9_-]{20,64})\/device\/state$/
const CONFIRM_PATH = '/device/confirm'
const SCRIPT_PATH = '/device.js'
const SCRIPT = readFileSync(new URL('../pages/device.js', import.meta.url), 'utf8')
/** 32 random bytes each. */
const SECRET = /^[\w-]{43}$/

export const deviceScriptUrl = ({ issuer }: Pick<Realm, 'issuer'>) => `${issuer}${SCRIPT_PATH}`

export function deviceProofPages(realm: Realm, world: RealmWorld) {
  const { tenant, records, issuer } = realm
  const { tenantId } = tenant
  const { store, clock, policies, deviceProofs } = world
  const cookies = attemptCookies(realm, world)

  return async function deviceProof(ctx: RealmContext, next: () => Promise<unknown>) {
    if (ctx.method !== 'GET') return next()
    const beginUid = BEGIN_PATH.exec(ctx.path)?.[1]
    if (beginUid !== undefined) return begin(ctx, beginUid)
    const stateUid = STATE_PATH.exec(ctx.path)?.[1]
    if (stateUid !== undefined) return tellState(ctx, stateUid)
    if (ctx.path === CONFIRM_PATH) return confirm(ctx)
    if (ctx.path !== SCRIPT_PATH) return next()
    ctx.set('Content-Type', 'text/javascript; charset=utf-8')
    ctx.set('Cache-Control', 'public, max-age=3600')
    ctx.body = SCRIPT
  }

  /** On to the agent, or back to what the sign-in asks for by now. */
  async function begin(ctx: RealmContext, uid: string) {
    const signIn = await browserSignInOf(ctx, realm, world, uid)
    if (signIn === undefined) return
    const { interaction, browserHash, isFinished } = signIn
    const state = stateOf(interaction, browserHash, clock.nowMs())
    ctx.status = 303
    if (state === undefined || browserHash === undefined || isFinished)
      return ctx.redirect(signInUrl(uid))
    const { userId } = state
    if (!isProofDemanded(userId, await policies.of(tenantId))) return ctx.redirect(signInUrl(uid))
    const asking = { tenantId, uid, userId, browserHash }
    ctx.redirect(await asKnown(() => deviceProofs.begin(asking)))
  }

  /** To the page that waits, and to nobody else. */
  async function tellState(ctx: RealmContext, uid: string) {
    const known = await records.signIn(uid)
    const held = cookies.hashHeld(ctx, uid)
    const state = known && stateOf(known.payload, held, clock.nowMs())
    ctx.status = 200
    ctx.body = { checked: state?.device !== undefined }
  }

  async function confirm(ctx: RealmContext) {
    const { cid, code, error } = ctx.query
    if (typeof cid !== 'string' || !SECRET.test(cid)) return over(ctx)
    const asking = await deviceProofs.find(tenantId, cid)
    const known = asking && (await records.signIn(asking.uid))
    if (asking === undefined || known === undefined) return over(ctx)
    const { uid } = asking
    const held = cookies.hashHeld(ctx, uid)
    const { ui_locales: uiLocales } = known.payload.params ?? {}
    const isOwn = isOfBrowser(known.payload, held)
    if (!isOwn) return refuseForeign(ctx, cid, asking.userId, uiLocales)
    const place = placeOf(ctx, world, realm, uiLocales)
    if (typeof code !== 'string' || !SECRET.test(code)) {
      const said = typeof error === 'string' ? error : ''
      return showPage(ctx, 403, deviceFailedPage(place, said, signInUrl(uid)))
    }
    const isTaken = await asKnown(() => take(ctx, cid, code, asking, held))
    if (!isTaken) return over(ctx, uiLocales)
    return showPage(ctx, 200, deviceCheckedPage(place, signInUrl(uid)))
  }

  /** The code counts for the sign-in as it is in this change. */
  async function take(
    ctx: RealmContext,
    cid: string,
    code: string,
    { uid, userId, browserHash }: { uid: string; userId: string; browserHash: string },
    held: string | undefined,
  ): Promise<boolean> {
    const actor = { name: userId, requestId: requestIdOf(ctx) }
    return store.changeOf(tenantId, async (change) => {
      const { queries, nowMs } = change
      const deviceId = await deviceProofs.take(change, { tenantId, cid, code })
      const record = await records.signInIn(queries, uid)
      if (deviceId === undefined || record === undefined || record.isFinished) return false
      const state = stateOf(record.payload, held, nowMs)
      // a password that was given once more since then has begun anew
      if (state?.userId !== userId || state.browserHash !== browserHash) return false
      const next = await withShownDevice(world, change, { tenantId, deviceId }, state, actor)
      await records.saveSignIn(queries, uid, withState(record.payload, next))
      return true
    })
  }

  /** Somebody was led here with a challenge that another browser has asked for. */
  async function refuseForeign(ctx: RealmContext, cid: string, userId: string, uiLocales: unknown) {
    await store.changeOf(tenantId, async (change) => {
      if (!(await deviceProofs.burn(change, tenantId, cid))) return
      const actor = { name: 'realm', requestId: requestIdOf(ctx) }
      const content = { user_id: userId, address: addressOf(ctx.req) }
      await change.audit(actor, { action: 'device.proof.foreign_browser', tenantId, content })
      const { queries, nowMs } = change
      await addFiguresOf(queries, 'realm', nowMs, tenantId, [FOREIGN])
      const data = { subject: userId, reason: FOREIGN.reason, ip: content.address }
      await change.emit('signin.denied', tenantId, data)
    })
    return showMessage(ctx, world, realm, 'device_other_browser', { uiLocales })
  }

  function over(ctx: RealmContext, uiLocales?: unknown) {
    return showMessage(ctx, world, realm, 'device_check_over', { uiLocales })
  }

  function signInUrl(uid: string): string {
    const { host } = new URL(realm.applicationUrls[0] ?? issuer)
    return `${issuer}/sign-in/${uid}?app=${encodeURIComponent(host)}`
  }
}
