/** Verification: looks at a tenant from the outside, and remembers what it found. */
import { nowSeconds, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  isCarriedProof,
  makePass,
  PROBE_HEADER,
  PROBE_PASS_HEADER,
  probeKeyOf,
} from '../../shared/probe.ts'
import type { Connectors } from '../connectors/connectors.ts'
import type { Instances } from '../feed/instances.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { checksOf, upsertChecks, type CheckRow } from '../store/queries/verification.ts'
import type { Store } from '../store/store.ts'
import { draftRefusal, failedLocally, REQUIRED_CHECKS } from '../tenants/protection.ts'
import { issuerOf } from '../../shared/issuer.ts'
import { clientIdOf, type Tenant, type Tenants } from '../tenants/tenants.ts'
import { boundedMap } from '../concurrency/bounded-map.ts'
import { inOrder, overallOf, type OverallStatus } from './checks.ts'
import { judge } from './judge.ts'
import type { FeedObservation, Observations } from './observations.ts'
import type { Answer, ProbeClient } from './probe-client.ts'
import { namesOfSealed } from './sealed-names.ts'
import { createSingleFlight } from '../concurrency/single-flight.ts'
import { signProbes, type ProbePair } from './probe-tokens.ts'

export interface VerificationStatus {
  readonly status: OverallStatus
  readonly checks: readonly CheckRow[]
  /** Names of those whose self-report going live waits for. */
  readonly heldBack: readonly string[]
}

interface VerificationWorld {
  readonly store: Store
  readonly tenants: Pick<Tenants, 'get' | 'clientSecret'>
  readonly keys: Pick<SigningKeys, 'signingSet'>
  readonly client: ProbeClient
  readonly clock: Clock
  readonly baseUrl: string
  readonly instances: Pick<Instances, 'of' | 'pollSeconds'>
  readonly connectors: Pick<Connectors, 'list'>
  readonly edgeUrlFor: (hostname: string) => string
}

export function createVerification(world: VerificationWorld) {
  const { store, tenants, client } = world
  const singleFlight = createSingleFlight<VerificationStatus>()

  async function status(tenantId: string): Promise<VerificationStatus> {
    const checks = await checksOf(store.read, tenantId)
    const heldBack = failedLocally(checks, world.clock.nowMs()).map(({ check }) => check)
    return { status: overallOf(checks), checks: inOrder(checks), heldBack }
  }

  async function run(tenantId: string): Promise<VerificationStatus> {
    const tenant = await tenants.get(tenantId)
    if (tenant.status === 'draft') {
      const { code, fields } = draftRefusal(REQUIRED_CHECKS)
      throw new Refusal(code, fields)
    }
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

    probe: (tenantId: string) => singleFlight.run(tenantId, () => run(tenantId)),

    async close(): Promise<void> {
      await client.close()
      await singleFlight.settled()
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

  const asOurs = ({ token }: { readonly token: string }) => ({
    [PROBE_HEADER]: token,
    [PROBE_PASS_HEADER]: makePass(key, token, nowSeconds(clock)),
  })
  const ask = (base: string, probe: { readonly token: string }) =>
    client.get(base + tenant.health, asOurs(probe))
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
  const sealed = tenant.sealed.slice(0, LIMITS.probedSealedMax).flatMap(namesOfSealed)
  // Answered like anybody's, and not told of as if somebody were trying them.
  const askSealed = async (path: string) => ({
    path,
    answer: await client.get(first + path, asOurs(current.genuine)),
  })

  const isProtected = tenant.protection === 'on'
  const [addresses, keyAnswers, sealedAnswers] = await Promise.all([
    boundedMap(LIMITS.probesAtOnceMax, bases, askAddress),
    boundedMap(LIMITS.probesAtOnceMax, probes, askKey),
    isProtected ? boundedMap(LIMITS.probesAtOnceMax, sealed, askSealed) : undefined,
  ])
  return {
    tenantId: tenant.tenantId,
    baseUrl,
    hasEdge,
    isSuspended: tenant.status === 'suspended',
    origin: tenant.origin,
    connectors: await connectorsOf(world, tenant),
    health: tenant.health,
    addresses,
    unaskedAddresses: hasEdge ? tenant.hostnames.length - hostnames.length : 0,
    keys: keyAnswers,
    feed: hasEdge ? undefined : await observeFeed(world, tenant.tenantId),
    sealed: sealedAnswers,
  }
}

/** Read behind the probes: what they have met is known by then. */
async function connectorsOf({ connectors }: VerificationWorld, { tenantId, mode }: Tenant) {
  return mode === 'connector' ? connectors.list(tenantId) : undefined
}

function isCarried(answer: Answer, probe: ProbePair, key: Buffer): boolean {
  return answer.kind === 'answered' && isCarriedProof(key, probe.genuine.token, answer.carried)
}

async function observeFeed(
  { instances, clock }: VerificationWorld,
  tenantId: string,
): Promise<FeedObservation> {
  const nowMs = clock.nowMs()
  const known = await instances.of(tenantId)
  return {
    pollAfterMs: instances.pollSeconds(tenantId) * SECOND_MS,
    instances: known.map(({ name, version, lastPollMs, etagIsCurrent, clockOffsetMs }) => ({
      instance: name,
      sdkVersion: version,
      polledAgoMs: nowMs - lastPollMs,
      hasNewestState: etagIsCurrent,
      clockAheadMs: clockOffsetMs ?? undefined,
    })),
  }
}
