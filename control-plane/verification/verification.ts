/** Verification: looks at a tenant from the outside, and remembers what it found. */
import type { Clock } from '../../shared/clock.ts'
import { nowSeconds } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  isCarriedProof,
  makePass,
  PROBE_HEADER,
  PROBE_PASS_HEADER,
  probeKeyOf,
} from '../../shared/probe.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { checksOf, upsertChecks, type CheckRow } from '../store/queries/verification.ts'
import type { Store } from '../store/store.ts'
import { issuerOf } from '../tenants/snapshot.ts'
import { clientIdOf, type Tenant, type Tenants } from '../tenants/tenants.ts'
import { atMostAtOnce } from './at-most-at-once.ts'
import { judge, PLATFORM_CHECKS, type Observations } from './judge.ts'
import type { Answer, ProbeClient } from './probe-client.ts'
import { signProbes, type ProbePair } from './probe-tokens.ts'

export interface VerificationStatus {
  readonly status: 'pass' | 'fail' | 'unknown'
  readonly checks: readonly CheckRow[]
}

export interface VerificationWorld {
  readonly store: Store
  readonly tenants: Pick<Tenants, 'get' | 'clientSecret'>
  readonly keys: Pick<SigningKeys, 'signingSet'>
  readonly client: ProbeClient
  readonly clock: Clock
  readonly baseUrl: string
  readonly edgeUrlFor: (hostname: string) => string
}

export type Verification = ReturnType<typeof createVerification>

export function createVerification(world: VerificationWorld) {
  const { store, tenants, client } = world
  const running = new Map<string, Promise<VerificationStatus>>()

  async function status(tenantId: string): Promise<VerificationStatus> {
    const checks = await checksOf(store.read, tenantId)
    return { status: overallOf(checks), checks: inOrder(checks) }
  }

  async function run(tenantId: string): Promise<VerificationStatus> {
    const tenant = await tenants.get(tenantId)
    if (tenant.status === 'draft') throw new Refusal('tenant_draft')
    const results = judge(await observe(world, tenant))
    await store.change(async ({ queries, nowMs }) => {
      const now = await findTenant(queries, tenantId)
      // other addresses or another secret meanwhile: what was seen says nothing about them
      if (now?.revision !== tenant.revision) throw new Refusal('changed_meanwhile')
      const rows = results.map((result) => ({
        ...result,
        tenantId,
        source: 'platform' as const,
        at: nowMs,
      }))
      await upsertChecks(queries, rows)
    })
    return status(tenantId)
  }

  return {
    status,

    /** Whoever asks while a run is under way gets the result of that run. */
    async probe(tenantId: string): Promise<VerificationStatus> {
      const pending = running.get(tenantId)
      if (pending !== undefined) return pending
      const started = run(tenantId).finally(() => running.delete(tenantId))
      running.set(tenantId, started)
      return started
    },

    async close(): Promise<void> {
      await client.close()
      await Promise.allSettled(running.values())
    },
  }
}

async function observe(world: VerificationWorld, tenant: Tenant): Promise<Observations> {
  const { keys, baseUrl, clock, client } = world
  const hasEdge = tenant.mode !== 'sdk'
  const hostnames = tenant.hostnames.slice(0, LIMITS.probedHostnamesMax)
  const bases = hasEdge ? hostnames.map(world.edgeUrlFor) : [tenant.origin]
  const [first = tenant.origin] = bases
  const signingSet = await keys.signingSet(tenant.tenantId)
  const probes = await signProbes(signingSet, {
    issuer: issuerOf(baseUrl, tenant.tenantId),
    audience: clientIdOf(tenant.tenantId),
    nowSeconds: nowSeconds(clock),
  })
  const key = probeKeyOf(await world.tenants.clientSecret(tenant.tenantId))
  const current = probes.find(({ isCurrent }) => isCurrent)
  if (current === undefined) throw new Refusal('not_published')

  const ask = (base: string, { token }: { readonly token: string }) =>
    client.get(base + tenant.health, {
      [PROBE_HEADER]: token,
      [PROBE_PASS_HEADER]: makePass(key, token, nowSeconds(clock)),
    })
  const askAddress = async (base: string) => {
    const url = base + tenant.health
    const answer = await ask(base, current.genuine)
    return { url, answer, isCarried: isCarried(answer, current, key) }
  }
  const askKey = async ({ kid, isCurrent, genuine, forged }: ProbePair) => ({
    kid,
    isCurrent,
    nonce: genuine.nonce,
    genuine: await ask(first, genuine),
    forged: await ask(first, forged),
  })
  const sealed = tenant.sealed.slice(0, LIMITS.probedSealedMax)
  const askSealed = async (path: string) => ({ path, answer: await client.get(first + path, {}) })

  const isProtected = tenant.protection === 'on'
  const [addresses, keyAnswers, sealedAnswers] = await Promise.all([
    atMostAtOnce(LIMITS.probesAtOnceMax, bases, askAddress),
    atMostAtOnce(LIMITS.probesAtOnceMax, probes, askKey),
    isProtected ? atMostAtOnce(LIMITS.probesAtOnceMax, sealed, askSealed) : undefined,
  ])
  return {
    hasEdge,
    isSuspended: tenant.status === 'suspended',
    origin: tenant.origin,
    keysUrl: `${baseUrl}/tenants/${tenant.tenantId}/public-key`,
    addresses,
    unaskedAddresses: hasEdge ? tenant.hostnames.length - hostnames.length : 0,
    keys: keyAnswers,
    sealed: sealedAnswers,
  }
}

function isCarried(answer: Answer, probe: ProbePair, key: Buffer): boolean {
  return answer.kind === 'answered' && isCarriedProof(key, probe.genuine.token, answer.carried)
}

/** The platform's in their own order, then what the integrator's machine reports. */
function inOrder(checks: readonly CheckRow[]): CheckRow[] {
  const place = ({ check, source }: CheckRow) => {
    const index = (PLATFORM_CHECKS as readonly string[]).indexOf(check)
    return (index === -1 ? PLATFORM_CHECKS.length : index) + (source === 'platform' ? 0 : 100)
  }
  return [...checks].sort((a, b) => place(a) - place(b))
}

/** The newest result of each check counts: one failure fails, and a skipped check has not run. */
export function overallOf(
  checks: readonly Pick<CheckRow, 'check' | 'status' | 'at'>[],
): VerificationStatus['status'] {
  const newest = new Map<string, Pick<CheckRow, 'status' | 'at'>>()
  for (const row of checks)
    if (row.at >= (newest.get(row.check)?.at ?? -Infinity)) newest.set(row.check, row)
  const statuses = [...newest.values()].map((row) => row.status)
  if (statuses.includes('fail')) return 'fail'
  return statuses.some((status) => status !== 'skip') ? 'pass' : 'unknown'
}
