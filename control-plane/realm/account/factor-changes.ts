/**
 * Second factors, added and removed by the person themselves. Between the page and its form
 * nothing is kept: the seed travels sealed, and what a passkey signs is computed anew.
 */
import { encodeQR } from 'qr'
import * as v from 'valibot'
import { MINUTE_MS } from '../../../shared/clock.ts'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  passkeySite,
  registeredPasskey,
  registrationOptions,
  type PasskeySite,
} from '../../accounts/passkeys.ts'
import { enrolmentUri, newSeed, stepOf } from '../../accounts/totp.ts'
import type { FactorChange } from '../../mail/texts/english.ts'
import { factorsOf } from '../../store/queries/factors.ts'
import type { Change } from '../../store/store.ts'
import { addAppPage, addPasskeyPage } from '../pages/account/factor-pages.ts'
import { recoveryCodesPage } from '../pages/recovery-codes-page.ts'
import { placeOf, requestIdOf, showMessage, showPage } from '../show.ts'
import { passkeyScriptUrl } from '../sign-in/passkey-script.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import type { freshProofs } from './fresh-proof.ts'
import type { Back, OwnPage, OwnRequest } from './own-page.ts'

const SEED_KEPT_MS = 30 * MINUTE_MS
const Sealed = v.object({ seed: v.string(), atMs: v.number() })

type Added =
  | { readonly kind: 'first'; readonly codes: readonly string[] }
  | { readonly kind: 'another' | 'twice' | 'full' }

export function factorChanges(
  realm: Realm,
  world: RealmWorld,
  proofs: ReturnType<typeof freshProofs>,
  back: Back,
): Readonly<Record<string, OwnPage>> {
  const { tenant, issuer } = realm
  const { tenantId } = tenant
  const { store, vault, clock, factors, policies, accountMail, baseUrl } = world
  const { accountUrl } = back
  const site = passkeySite(baseUrl)

  const ownerOf = ({ holder }: OwnRequest) => ({ tenantId, userId: holder.user.userId })
  const actorOf = ({ ctx, holder }: OwnRequest) => {
    return { name: holder.user.userId, requestId: requestIdOf(ctx) }
  }
  const sealPurpose = ({ holder }: OwnRequest) => `realm.account.seed:${holder.mark}`

  /** Whoever holds the session need not be the person: the mailbox hears of it. */
  const tell = (change: Change, { ctx, holder }: OwnRequest, what: FactorChange) =>
    accountMail.tellFactorsChanged(
      change,
      holder.user,
      what,
      placeOf(ctx, world, realm).texts.language,
    )

  return {
    '/account/authenticator': { proof: 'always', get: (one) => showApp(one), post: addApp },
    '/account/passkey': { proof: 'always', get: (one) => showPasskey(one), post: addPasskey },
    '/account/recovery-codes': { proof: 'always', post: renewCodes },
    '/account/factor': { proof: 'always', post: remove },
  }

  async function showApp(request: OwnRequest, kept?: { seed: string; sealed: string }) {
    const { ctx, holder } = request
    if (await isFull(request)) return back.problem(request, 'factors_full')
    const seed = kept?.seed ?? newSeed()
    const sealed =
      kept?.sealed ??
      vault.seal(JSON.stringify({ seed, atMs: clock.nowMs() }), sealPurpose(request))
    const place = placeOf(ctx, world, realm)
    const uri = enrolmentUri(seed, tenant.name, holder.user.username)
    const page = addAppPage({
      place,
      action: `${issuer}${ctx.path}`,
      accountUrl,
      hidden: { sealed, csrf: holder.csrf },
      key: seed.replace(/.{4}(?=.)/g, '$& '),
      qrSvg: encodeQR(uri, 'svg', { border: 1 }),
      problem: kept === undefined ? undefined : place.texts.account.own.problems.code_new,
    })
    return showPage(ctx, kept === undefined ? 200 : 422, page)
  }

  async function addApp(request: OwnRequest) {
    const { fields } = request
    const sealed = fields.get('sealed') ?? ''
    const opened = open(request, sealed)
    if (opened === undefined) return back.problem(request, 'old_page')
    const { seed, atMs } = opened
    const code = (fields.get('code') ?? '').replace(/[\s-]/g, '')
    const step = stepOf(seed, code, clock.nowMs())
    if (step === undefined) return showApp(request, { seed, sealed })
    const owner = ownerOf(request)
    const added = await add(request, 'totp', atMs, (change) =>
      factors.addTotp(change, owner, seed, step),
    )
    return answer(request, added, 'app')
  }

  function open(request: OwnRequest, sealed: string): v.InferOutput<typeof Sealed> | undefined {
    try {
      const opened = v.parse(Sealed, JSON.parse(vault.open(sealed, sealPurpose(request))))
      return clock.nowMs() < opened.atMs + SEED_KEPT_MS ? opened : undefined
    } catch {
      return undefined // of another session, or nothing of ours
    }
  }

  async function showPasskey(request: OwnRequest, isProblem = false) {
    const { ctx, holder } = request
    if (site === undefined) return showMessage(ctx, world, realm, 'not_found')
    if (await isFull(request)) return back.problem(request, 'factors_full')
    const { userId, username } = holder.user
    const [challenge] = await proofs.challengesOf(holder)
    const known = await factors.passkeys(ownerOf(request))
    const registration = { challenge, tenantName: tenant.name, userId, username, known }
    const place = placeOf(ctx, world, realm)
    const page = addPasskeyPage({
      place,
      action: `${issuer}${ctx.path}`,
      accountUrl,
      hidden: { csrf: holder.csrf },
      options: await registrationOptions(site, registration),
      scriptUrl: passkeyScriptUrl(realm),
      problem: isProblem ? place.texts.account.own.problems.passkey_refused : undefined,
    })
    return showPage(ctx, isProblem ? 422 : 200, page)
  }

  async function addPasskey(request: OwnRequest) {
    if (site === undefined) return showMessage(request.ctx, world, realm, 'not_found')
    const registered = await registeredIn(request, site)
    if (registered === undefined) return showPasskey(request, true)
    const { passkey, counter } = registered
    const owner = ownerOf(request)
    const added = await add(request, 'passkey', Infinity, (change) =>
      factors.addPasskey(change, owner, passkey, counter),
    )
    return answer(request, added, 'passkey')
  }

  async function registeredIn({ holder, fields }: OwnRequest, site: PasskeySite) {
    const sent = fields.get('passkey') ?? ''
    for (const challenge of await proofs.challengesOf(holder)) {
      const registered = await registeredPasskey(site, challenge, sent)
      if (registered !== undefined) return registered
    }
    return undefined
  }

  /** A second click finds that the first has added it: one of its kind, made since the page was. */
  async function add(
    request: OwnRequest,
    kind: 'totp' | 'passkey',
    sinceMs: number,
    insert: (change: Change) => Promise<boolean>,
  ): Promise<Added> {
    const { userId } = request.holder.user
    return store.change(async (change): Promise<Added> => {
      const all = await factorsOf(change.queries, tenantId, userId)
      const real = all.filter((one) => one.kind !== 'recovery')
      if (real.some((one) => one.kind === kind && one.createdAt >= sinceMs))
        return { kind: 'twice' }
      if (real.length >= LIMITS.factorsPerUserMax) return { kind: 'full' }
      await insert(change)
      const content = { user_id: userId, kind }
      await change.audit(actorOf(request), { action: 'factor.added', tenantId, content })
      await tell(change, request, `${kind}_added`)
      if (real.length > 0) return { kind: 'another' }
      return { kind: 'first', codes: await factors.renewRecoveryCodes(change, ownerOf(request)) }
    })
  }

  async function answer(request: OwnRequest, added: Added, done: 'app' | 'passkey') {
    const { ctx, holder } = request
    if (added.kind === 'full') return back.problem(request, 'factors_full')
    accountMail.deliver()
    proofs.remember(ctx, holder, true) // what was just set up was just shown
    return added.kind === 'first' ? showCodes(ctx, added.codes) : back.done(ctx, done)
  }

  function showCodes(ctx: RealmContext, codes: readonly string[]) {
    const view = { place: placeOf(ctx, world, realm), action: `${accountUrl}/codes-kept`, codes }
    return showPage(ctx, 200, recoveryCodesPage(view))
  }

  /** For who has a factor; codes alone are none. */
  async function renewCodes(request: OwnRequest) {
    const { ctx, holder } = request
    if ((await proofs.kindsOf(holder)).length === 0) return back.problem(request, 'factor_gone')
    const codes = await store.change(async (change) => {
      const content = { user_id: holder.user.userId }
      await change.audit(actorOf(request), { action: 'recovery_codes.renewed', tenantId, content })
      await tell(change, request, 'codes_renewed')
      return factors.renewRecoveryCodes(change, ownerOf(request))
    })
    accountMail.deliver()
    return showCodes(ctx, codes)
  }

  async function remove(request: OwnRequest) {
    const factorId = request.fields.get('factor') ?? ''
    const all = await factors.list(ownerOf(request))
    const isReal = all.some((one) => one.factorId === factorId && one.kind !== 'recovery')
    if (!isReal) return back.problem(request, 'factor_gone', 404)
    const mustKeepOne = (await policies.of(tenantId)).mfa.mode === 'required'
    try {
      await factors.remove(ownerOf(request), factorId, actorOf(request), {
        mustKeepOne,
        alongside: async (change, { kind }) => {
          if (kind !== 'recovery') await tell(change, request, `${kind}_removed`)
        },
      })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error.code === 'factor_needed') return back.problem(request, 'factor_needed', 409)
      if (error.code === 'factor_not_found') return back.problem(request, 'factor_gone', 404)
      throw error
    }
    accountMail.deliver()
    return back.done(request.ctx, 'factor')
  }

  async function isFull(request: OwnRequest): Promise<boolean> {
    const all = await factors.list(ownerOf(request))
    return all.filter(({ kind }) => kind !== 'recovery').length >= LIMITS.factorsPerUserMax
  }
}
