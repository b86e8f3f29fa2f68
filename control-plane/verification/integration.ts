/** Whether the integration is complete: a sign-in from end to end, and what go-live asks for. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { TrialPeople } from '../accounts/trial-people.ts'
import type { Instances } from '../feed/instances.ts'
import { findTenant, updateTenant } from '../store/queries/tenants.ts'
import { findUserDirectory } from '../store/queries/user-directories.ts'
import { findTrial, freshPasses, putTrial } from '../store/queries/verification.ts'
import type { Actor, Store } from '../store/store.ts'
import { draftRefusal, REQUIRED_CHECKS } from '../tenants/protection.ts'
import { issuerOf } from '../../shared/issuer.ts'
import type { Tenant, Tenants } from '../tenants/tenants.ts'
import type { CheckResult } from './checks.ts'
import { createSingleFlight } from '../concurrency/single-flight.ts'
import { trySignIn } from './sign-in-trial.ts'
import type { Trial } from './trial.ts'
import { createTrialAgent, createTrialBrowser } from './trial-browser.ts'

export interface IntegrationResult {
  /** Since when it has been complete; null where something is missing now. */
  readonly completedAtMs: number | null
  /** Names of checks. */
  readonly missing: readonly string[]
  readonly checks: readonly CheckResult[]
}

interface IntegrationWorld {
  readonly store: Store
  readonly tenants: Pick<Tenants, 'get'>
  readonly people: TrialPeople
  readonly instances: Pick<Instances, 'pollSeconds'>
  readonly clock: Clock
  readonly baseUrl: string
  readonly edgeUrlFor: (hostname: string) => string
  readonly log: Pick<Logger, 'error'>
  readonly timing?: TrialTiming
}

interface TrialTiming {
  /** All of one sign-in, and each page of it. */
  readonly trialMsMax: number
  readonly pageMsMax: number
}

const TIMING: TrialTiming = {
  trialMsMax: LIMITS.signInTrialMsMax,
  pageMsMax: LIMITS.signInTrialPageMsMax,
}

export function createIntegration(world: IntegrationWorld) {
  const { store, tenants, people, log, timing = TIMING } = world
  const agent = createTrialAgent(timing.pageMsMax)
  const closing = new AbortController()
  const singleFlight = createSingleFlight<IntegrationResult>()

  async function check(tenantId: string, actor: Actor): Promise<IntegrationResult> {
    const tenant = await tenants.get(tenantId)
    if (tenant.status === 'draft') {
      const { code, fields } = draftRefusal(REQUIRED_CHECKS)
      throw new Refusal(code, fields)
    }
    if (tenant.status === 'suspended') throw new Refusal('tenant_suspended')
    const checks = await tryAndTidy(tenant)
    return store.change(async (change) => {
      const { queries, nowMs } = change
      const now = await findTenant(queries, tenantId)
      if (now?.revision !== tenant.revision) throw new Refusal('changed_meanwhile')
      const passed = await freshPasses(queries, tenantId, nowMs)
      const missing = [
        ...REQUIRED_CHECKS.filter((name) => !passed.has(name)),
        ...checks.filter(({ status }) => status === 'fail').map(({ check }) => check),
      ]
      const isComplete = missing.length === 0
      const completedAtMs = isComplete ? (now.integrationCompletedAt ?? nowMs) : null
      if (isComplete && now.integrationCompletedAt === null)
        await updateTenant(queries, tenantId, { integrationCompletedAt: nowMs })
      const statuses = Object.fromEntries(checks.map(({ check, status }) => [check, status]))
      const content = { complete: isComplete, missing, checks: statuses }
      await change.audit(actor, { action: 'integration.checked', tenantId, content })
      await putTrial(queries, { tenantId, at: nowMs, revision: now.revision, checks })
      return { completedAtMs, missing, checks }
    })
  }

  async function tryAndTidy(tenant: Tenant): Promise<CheckResult[]> {
    const late = AbortSignal.timeout(timing.trialMsMax)
    const signal = AbortSignal.any([late, closing.signal])
    const trial = await prepare(tenant, signal)
    try {
      return await trySignIn(trial)
    } catch (error) {
      if (signal.aborted) throw new Refusal('unavailable')
      throw error
    } finally {
      if (trial.person !== undefined)
        await people.remove(trial.person).catch((error: unknown) => {
          log.error({ error, tenant_id: tenant.tenantId }, 'a trial person is left for the jobs')
        })
    }
  }

  async function prepare(tenant: Tenant, signal: AbortSignal): Promise<Trial> {
    const { tenantId, mode, origin, hostnames } = tenant
    const isSdk = mode === 'sdk'
    const [hostname = ''] = hostnames
    const nowMs = () => world.clock.nowMs()
    return {
      tenant,
      baseUrl: world.baseUrl,
      base: isSdk ? origin : world.edgeUrlFor(hostname),
      issuer: issuerOf(world.baseUrl, tenantId),
      hasDirectory: (await findUserDirectory(store.read, tenantId)) !== undefined,
      pollAfterMs: isSdk ? world.instances.pollSeconds(tenantId) * SECOND_MS : 0,
      people,
      browser: createTrialBrowser({ agent, signal, nowMs }),
      wait: (milliseconds) => sleep(milliseconds, undefined, { signal }),
      page: undefined,
      person: undefined,
    }
  }

  return {
    /** One at a time per tenant; asked again, it looks again. */
    complete: (tenantId: string, actor: Actor) =>
      singleFlight.run(tenantId, () => check(tenantId, actor)),

    /** What the newest one has shown of the tenant as it is. */
    async latestOf({ tenantId, revision }: Pick<Tenant, 'tenantId' | 'revision'>) {
      const trial = await findTrial(store.read, tenantId)
      return trial?.revision === revision ? trial : undefined
    },

    async close(): Promise<void> {
      closing.abort()
      await agent.destroy()
      await singleFlight.settled()
    },
  }
}
