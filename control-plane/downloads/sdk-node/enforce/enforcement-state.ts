/**
 * How things stand: the tenant's state and keys as they were last heard, what is revoked, and how
 * old all that is. A new state is compiled aside, then one reference is swapped.
 */
import { issuerOf } from '../../../../shared/issuer.ts'
import { nowSeconds } from '../../../../shared/clock.ts'
import { endedFrom } from '../../../../shared/enforcement/session.ts'
import { RevokedState } from '../../../../shared/enforcement/revoked-state.ts'
import { isOutdated, judgeAgain } from '../../../../shared/enforcement/judge-again.ts'
import type { TokenClaims, TokenTrust } from '../../../../shared/enforcement/token.ts'
import type { StillOpen } from '../guard.ts'
import type { Admission } from './admission.ts'
import type { EnforceSettings } from './options.ts'
import { createPublicKeys, type Keys } from '../public-keys.ts'
import { createCredentials } from './credentials.ts'
import { createEvents } from './events.ts'
import { createFeed } from './feed.ts'
import { createServiceClock } from './service-clock.ts'
import { createWatch, type Admitted } from './watch.ts'
import { compileTenant, sealingKeys, type EnforcedTenant, type State } from './state.ts'

export function createEnforcementState(settings: EnforceSettings) {
  const { baseUrl, tenantId, secrets, steadyMs } = settings
  const clock = createServiceClock(settings)
  const credentials = createCredentials(settings)
  const events = createEvents({ credentials, onWarning: settings.onWarning, random: Math.random })
  const sealing = sealingKeys(secrets)
  const issuer = issuerOf(baseUrl, tenantId)
  const revoked = new RevokedState()
  const publicKeys = createPublicKeys({
    ...settings,
    url: `${baseUrl}/tenants/${tenantId}/public-key`,
    file: undefined,
  })
  let trust: TokenTrust & { readonly keys: Keys } = {
    issuer,
    audience: `${tenantId}-user`,
    keys: new Map(),
  }
  let state: State | undefined
  let tenant: EnforcedTenant | undefined
  const watch = createWatch({ mayStay, nowSeconds: () => nowSeconds(clock), onError: tellOfError })
  const { promise: isReady, resolve: nowReady } = promised()

  const feed = createFeed({
    settings,
    credentials,
    clock,
    random: Math.random,
    onRevoked(part) {
      if (part.tenant.tenant_id !== tenantId) return
      revoked.merge(part.revoked, nowSeconds(clock))
      watch.look()
    },
    onState(heard) {
      const next = compile(heard)
      revoked.expectSessionSeconds(heard.tenant.max_session_seconds)
      state = heard
      tenant = next
      watch.look()
      if (trust.keys.size > 0) nowReady()
    },
    onContact() {
      takeKeys()
      // the other secret of a rotation has been accepted: sign-ins are finished with that one
      if (state !== undefined && tenant?.client.secret !== credentials.secret)
        tenant = compile(state)
    },
  })

  let isErrorTold = false
  /** Once: it would be told of every second. */
  function tellOfError(error: unknown) {
    if (isErrorTold) return
    isErrorTold = true
    const reason = error instanceof Error ? error.message : String(error)
    settings.onWarning(`service-node: an open connection could not be checked or closed: ${reason}`)
  }

  /** Throws for a state that cannot be enforced; nothing has changed then. */
  function compile(heard: State): EnforcedTenant {
    if (heard.tenant.tenant_id !== tenantId) throw new Error('the state belongs to another tenant')
    const { secret } = credentials
    const next = compileTenant({ state: heard, trust, keys: sealing, issuer, secret })
    if (next.origin === '')
      throw new Error('the tenant has no origin; set the address of the application')
    return next
  }

  /** A token's proof is cached beside this very object, so it changes only with the keys. */
  function trustIn(keys: Keys) {
    if (keys === trust.keys) return
    trust = { ...trust, keys }
    if (state === undefined) return
    tenant = compile(state)
    nowReady()
  }

  /** Renews them in the background when they have been there for long. */
  function takeKeys() {
    const known = publicKeys.current()
    if (known !== undefined) return trustIn(known)
    publicKeys.load().then(trustIn, () => {}) // it warns by itself, and the next poll asks again
  }

  const isTooOld = () =>
    settings.afterOutage === 'refuse' &&
    Math.abs(steadyMs() - feed.heardMs()) > settings.outageLimitMs // also when a clock that was handed in is set back

  /** As at the edge, whose sweep is gateway/session/open-streams.ts. */
  function mayStay(admitted: Admitted, isPathDue: (path: string) => boolean): boolean {
    const { identity: session, machine, path, allowedBy } = admitted
    if (tenant === undefined) return false
    // what is excluded is open to everybody even then
    const isForNobody = session === undefined && tenant.protection === 'on'
    if (isTooOld() && !isForNobody) return false
    const now = nowSeconds(clock)
    // other requests of the session that came by here count as well
    const usedSeconds = Math.max(admitted.activeSeconds, session?.usedSeconds ?? 0)
    const times = { usedSeconds, nowSeconds: now }
    const client = { fingerprint: '', boundTo: '' }
    const { host } = tenant
    const { method, methodOverrides, clientAddress } = admitted
    const asked = { host, method, methodOverrides, path, clientAddress }
    const allowedSeconds = admitted.isOpenEnded ? admitted.allowedSeconds : Infinity
    const states = { allowedBy, allowedSeconds, tenant, revoked }
    const facts = { ...asked, session, machine, ...states, ...times, ...client }
    const isDue = !isOutdated(facts) || isPathDue(path)
    if (judgeAgain({ ...facts, isPathDue: isDue }) !== undefined) return false
    if (!isDue) return true
    admitted.allowedBy = tenant
    if (admitted.isOpenEnded) admitted.allowedSeconds = now
    return true
  }

  const isStarted = () => tenant !== undefined && trust.keys.size > 0

  return {
    clock,
    events,
    revoked,
    isStarted,
    ready: () => isReady,

    /** Settles when there is a state, or after so long without one. */
    async started(waitMs: number): Promise<void> {
      if (isStarted()) return
      let timer: NodeJS.Timeout | undefined
      const late = new Promise((resolve) => (timer = setTimeout(resolve, waitMs).unref()))
      await Promise.race([isReady, late])
      clearTimeout(timer)
    },

    /** Only once it is started. */
    tenant: (): EnforcedTenant => tenant!,

    isTooOld,
    watch(
      identity: Admission | undefined,
      asked: Pick<Admitted, 'path' | 'method' | 'methodOverrides' | 'clientAddress' | 'machine'>,
      open: StillOpen,
    ): () => void {
      const now = nowSeconds(clock)
      const states = { isOpenEnded: false, allowedBy: tenant!, allowedSeconds: now }
      return watch.add({ identity, ...asked, activeSeconds: now, ...states }, open)
    },

    /** The session is over here at once; the service hears of it by an event. */
    endSession({ sid, iat }: TokenClaims) {
      const seconds = nowSeconds(clock)
      revoked.merge({ all: 0, subjects: {}, sids: { [sid]: endedFrom(seconds, iat) } }, seconds)
      watch.look()
    },

    /** For a key that nobody knows: undefined where there is nothing new to be found. */
    lookForKeys(): Promise<void> | undefined {
      const looked = publicKeys.lookAgain()
      return looked instanceof Promise ? looked.then(trustIn, () => {}) : undefined
    },

    async close(): Promise<void> {
      feed.close()
      publicKeys.close()
      watch.close()
      await events.close()
    },
  }
}

function promised() {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}
