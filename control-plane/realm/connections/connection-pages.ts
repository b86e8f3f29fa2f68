/**
 * The way to a provider and back. What comes back is worth nothing unless this browser was sent there
 * with it, for this sign-in, to this very connection, and it has not come back before.
 */
import { hash } from 'node:crypto'
import type { AdapterPayload } from 'oidc-provider'
import { nowSeconds } from '../../../shared/clock.ts'
import { callbackUrlOf } from '../../connections/addresses.ts'
import type { Connection } from '../../connections/connections.ts'
import { GATE_WORDS } from '../../connections/gate-words.ts'
import { gate, type Claims, type UpstreamPerson } from '../../connections/gate.ts'
import { ProviderProblem } from '../../connections/provider-client.ts'
import { isConfirmation, browserSignInOf, whereFrom } from '../sign-in/browser-sign-in.ts'
import type { BrowserSignIn } from '../sign-in/browser-sign-in.ts'
import type { UpstreamSession } from '../sign-in/attempt-state.ts'
import { showingOutcomes } from '../sign-in/show-outcome.ts'
import { upstreamStep } from '../sign-in/upstream-step.ts'
import { requestIdOf, showMessage } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { testingConnections } from './connection-test.ts'
import { syncAttributes } from './sync-attributes.ts'
import { syncGroups } from './sync-groups.ts'
import { toProviders } from './to-provider.ts'
import { upstreamCookies } from './upstream-cookies.ts'
import { isOvertaken, whoComes } from './who-comes.ts'

const START_PATH = /^\/sign-in\/([A-Za-z0-9_-]{20,64})\/connection\/(con_[0-9a-f]{32})$/
const CALLBACK_PATH = /^\/connections\/(con_[0-9a-f]{32})\/callback$/
const ANSWER = /^[\x21-\x7e]{1,4096}$/
/** Ways back that one sign-in remembers: with more it has to be begun anew. */
const USED_STATES_MAX = 20
const SKEW_SECONDS = 60
const ID = /^[\x21-\x7e]{1,255}$/
/** A longer one would make an address that is longer than servers read. */
const ID_TOKEN_CHARACTERS_MAX = 6144

export function connectionPages(realm: Realm, world: RealmWorld) {
  const { tenant, issuer, records } = realm
  const { tenantId } = tenant
  const { store, connections, connectionProtocol: protocol } = world
  const cookies = upstreamCookies(realm, world)
  const step = upstreamStep(realm, world)
  const { showOutcome } = showingOutcomes(realm, world)
  const test = testingConnections(realm, world)
  const { begin, failed, note } = toProviders(realm, world)
  const redirectUri = (connectionId: string) =>
    callbackUrlOf(world.baseUrl, { tenantId, connectionId })

  return async function connectionPages(ctx: RealmContext, next: () => Promise<unknown>) {
    if (ctx.method !== 'GET') return next()
    const [, uid, connectionId] = START_PATH.exec(ctx.path) ?? []
    if (uid !== undefined && connectionId !== undefined) return start(ctx, uid, connectionId)
    const [, answered] = CALLBACK_PATH.exec(ctx.path) ?? []
    if (answered !== undefined) {
      const attributes = { step: 'connection' }
      return world.tracing.span('sign_in', { attributes }, async (span) => {
        span.set('outcome', await comeBack(ctx, answered))
      })
    }
    const tested = test.connectionOf(ctx)
    if (tested === undefined) return next()
    const whose = { uid: null, actor: tested.actor }
    return begin(ctx, tested.connectionId, { whose, isConfirmation: false })
  }

  async function start(ctx: RealmContext, uid: string, connectionId: string) {
    const signIn = await browserSignInOf(ctx, realm, world, uid)
    if (signIn === undefined) return
    if (signIn.isFinished) return showMessage(ctx, world, realm, 'expired', whereFrom(signIn))
    if (tenant.licenceBlocksSignin)
      return showMessage(ctx, world, realm, 'licence_blocked', whereFrom(signIn))
    return begin(ctx, connectionId, {
      whose: { uid, actor: null },
      isConfirmation: isConfirmation(signIn),
      loginHint: signIn.interaction.params?.login_hint,
    })
  }

  /** Answers what came of it, in a word. */
  async function comeBack(ctx: RealmContext, connectionId: string): Promise<string> {
    const state = parameterOf(ctx, 'state')
    const flow = state === undefined ? undefined : cookies.flow(ctx, state)
    if (state === undefined || flow?.state !== state)
      return after('cookie_missing', showMessage(ctx, world, realm, 'cookie_missing'))
    cookies.endFlow(ctx, state)
    // an answer to one connection is none to another (mix-up)
    if (flow.connectionId !== connectionId)
      return fail(ctx, connectionId, new ProviderProblem('the answer is of another connection'))
    const signIn = flow.uid === null ? undefined : await signInOf(ctx, flow.uid)
    if (flow.uid !== null && signIn === undefined) return 'expired'
    if (signIn !== undefined && tenant.licenceBlocksSignin) {
      const shown = showMessage(ctx, world, realm, 'licence_blocked', whereFrom(signIn))
      return after('licence_blocked', shown)
    }
    try {
      const found = await connections.withSecret(tenantId, connectionId)
      if (found?.updatedAt !== flow.updatedAt)
        throw new ProviderProblem('the connection was changed meanwhile')
      const { code, problem } = answerOf(ctx)
      if (code === undefined) throw new ProviderProblem(problem)
      const answer = { code, issuer: parameterOf(ctx, 'iss') }
      const { claims, idToken } = await protocol.claimsFor(
        found,
        redirectUri(connectionId),
        answer,
        flow,
      )
      if (signIn === undefined)
        return await after('test', test.show(ctx, found, claims, flow.actor ?? ''))
      const gated = gate(found, claims)
      if (gated.kind === 'refused') throw new ProviderProblem(GATE_WORDS[gated.problem])
      if (!(await connections.keepOrganization(found, claims.organization_id)))
        throw new ProviderProblem(GATE_WORDS.organization_foreign)
      const session = sessionOf(found, claims, idToken)
      return await letIn(ctx, signIn, found, gated.person, session)
    } catch (error) {
      return fail(ctx, connectionId, error)
    }
  }

  function fail(ctx: RealmContext, connectionId: string, error: unknown): Promise<string> {
    return after('provider_failed', failed(ctx, connectionId, error))
  }

  /** The sign-in that this browser has under way, if it has not come back with this answer before. */
  async function signInOf(ctx: RealmContext, uid: string): Promise<BrowserSignIn | undefined> {
    const used = hash('sha256', parameterOf(ctx, 'state') ?? '', 'base64url')
    const taken = await store.changeOf(tenantId, async ({ queries }) => {
      const known = await records.signInIn(queries, uid)
      if (known === undefined || known.isFinished) return undefined
      const states = (known.payload as { usedStates?: readonly string[] }).usedStates ?? []
      if (states.includes(used) || states.length >= USED_STATES_MAX) return undefined
      const payload: AdapterPayload = { ...known.payload, consumed: undefined }
      Object.assign(payload, { usedStates: [...states, used] })
      await records.saveSignIn(queries, uid, payload)
      return payload
    })
    if (taken === undefined) {
      await showMessage(ctx, world, realm, 'expired')
      return undefined
    }
    return { uid, interaction: taken, isFinished: false, browserHash: step.browserHash(ctx, uid) }
  }

  async function letIn(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    connection: Parameters<typeof whoComes>[1],
    person: UpstreamPerson,
    session: UpstreamSession,
  ): Promise<string> {
    const { connectionId, updatedAt } = connection
    const ask = () => whoComes(world, connection, person, requestIdOf(ctx))
    const who = await ask().catch((error: unknown) => {
      if (isOvertaken(error)) return ask()
      throw error
    })
    const { issuer: from, subject } = person
    note(ctx, connectionId, who.kind === 'refused' ? who.problem : who.kind)
    if (who.kind === 'refused') {
      const details = [who.problem, requestIdOf(ctx)]
      const about = { ...whereFrom(signIn), details }
      return after('refused', showMessage(ctx, world, realm, 'connection_no_account', about))
    }
    if (who.kind === 'must_prove') {
      const { userId } = who.user
      const { uid } = signIn
      cookies.giveLink(ctx, { uid, connectionId, updatedAt, issuer: from, subject, userId })
      toPage(ctx, signIn)
      return who.kind
    }
    await syncGroups(world, connection, who.user, person.groups, requestIdOf(ctx))
    await syncAttributes(world, connection, who.user, person.attributes, requestIdOf(ctx))
    const outcome = await step.goOn(ctx, signIn, who.user, {
      ...{ connectionId, updatedAt, issuer: from, subject },
      ...{ hasSecondFactor: person.hasSecondFactor, provenAt: longAgo(person.provenAt), session },
    })
    note(ctx, connectionId, outcome.kind)
    // a page of its own address, which a reload may ask for again
    if (outcome.kind === 'step') toPage(ctx, signIn)
    else await showOutcome(ctx, signIn, outcome)
    return outcome.kind
  }

  /** Clocks differ: what is of this minute is of now. */
  function longAgo(provenAt = Infinity): number | undefined {
    return provenAt < nowSeconds(world.clock) - SKEW_SECONDS ? provenAt : undefined
  }

  function toPage(ctx: RealmContext, { uid, interaction }: BrowserSignIn) {
    const { host } = new URL(String(interaction.params?.redirect_uri))
    ctx.status = 303
    ctx.redirect(`${issuer}/sign-in/${uid}?app=${encodeURIComponent(host)}`)
  }
}

async function after(word: string, shown: unknown): Promise<string> {
  await shown
  return word
}

/** What the provider may end, and is shown when the person signs out here. */
function sessionOf(
  { connectionId, signsOut }: Pick<Connection, 'connectionId' | 'signsOut'>,
  { sub, sid }: Claims,
  idToken: string | undefined,
): UpstreamSession {
  const isShown = signsOut && idToken !== undefined && idToken.length <= ID_TOKEN_CHARACTERS_MAX
  return {
    ...{ connectionId, subject: String(sub) },
    ...(typeof sid === 'string' && ID.test(sid) && { sid }),
    ...(isShown && { idToken }),
  }
}

/** One of each: which of two is meant is nothing to guess. */
function parameterOf({ query }: RealmContext, name: string): string | undefined {
  const value = query[name]
  return typeof value === 'string' && ANSWER.test(value) ? value : undefined
}

function answerOf(ctx: RealmContext) {
  const code = ctx.query.error === undefined ? parameterOf(ctx, 'code') : undefined
  const error = parameterOf(ctx, 'error') ?? ''
  const said = /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : ''
  return { code, problem: `the provider did not sign you in${said}` }
}
