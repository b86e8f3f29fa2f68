/** Certificates for the hostnames of tenants, ordered by one of the control planes for all of them. */
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { boundedMap } from '../concurrency/bounded-map.ts'
import { createCoalescingRunner } from '../concurrency/coalescing-runner.ts'
import type { Vault } from '../keys/vault.ts'
import type { Queries } from '../store/engine.ts'
import {
  acmeOrdersOf,
  dueAcmeOrders,
  insertAcmeOrders,
  keepAcmeOrdersOf,
  nextAcmeOrderAt,
} from '../store/queries/acme-orders.ts'
import {
  certificatesOfAll,
  keepCertificatesOf,
  uploadedCertificatesOf,
} from '../store/queries/certificates.ts'
import { changedTenantsAfter } from '../store/queries/fleet.ts'
import { findTenants, type Tenant } from '../store/queries/tenants.ts'
import { CONSOLE_REALM, isReserved } from '../store/reserved.ts'
import type { Store } from '../store/store.ts'
import type { Certificates } from '../tenants/certificates.ts'
import { orderedHostnames } from '../tenants/ordered-hostnames.ts'
import type { AcmeAccount } from './account-key.ts'
import { createAuthorities, type AcmeSettings } from './authorities.ts'
import { createOrders } from './orders.ts'
import type { ReceiverAddresses } from '../outbound/public-address.ts'
import { createPreflight } from './preflight.ts'
import { createResolver, createWays, type DnsResolver } from './ways.ts'
import type { Tracing } from '../tracing/tracing.ts'

/** What only tests give. */
export interface AcmeWorld {
  readonly ca?: string
  readonly httpPort?: number
  readonly addresses?: Pick<ReceiverAddresses, 'find'>
  readonly resolver?: DnsResolver
  readonly random?: () => number
  readonly roundMs?: number
}

type Work = (isClosed: () => boolean) => Promise<void>

interface AcmeOptions extends AcmeWorld {
  readonly addresses: Pick<ReceiverAddresses, 'find'>
  readonly settings: AcmeSettings
  readonly account: AcmeAccount
  /** By one control plane for all. */
  readonly alone: (work: Work) => Work
  readonly store: Store
  readonly vault: Vault
  readonly certificates: Pick<Certificates, 'putOrdered'>
  /** Those of the control planes, and wildcards for all tenants. */
  readonly ownNames?: readonly string[]
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly tracing?: Pick<Tracing, 'span'> | undefined
}

const TENANTS_AT_ONCE = 200
const DUE_AT_ONCE = 100
/** What comes within this time is waited for; then the next round looks. */
const ROUND_MS = 10 * SECOND_MS
const LOOK_MS = SECOND_MS / 2

export function createAcme(options: AcmeOptions) {
  const { settings, account, store, clock, log, ownNames = [], random = Math.random } = options
  const { roundMs = ROUND_MS, resolver = createResolver() } = options
  const ending = new AbortController()
  const { signal } = ending
  const authorities = createAuthorities({ ...settings, ...options, signal })
  const { thumbprint } = account
  const { httpPort: port, addresses } = options
  const preflight = createPreflight({ thumbprint, signal, port, addresses, ownHostnames: ownNames })
  const zone = settings.dns ?? undefined
  const ways = createWays({ store, thumbprint, zone, resolver, preflight: preflight.find })
  const orders = createOrders({ ...options, authorities, ways, thumbprint, random, signal })
  let followed = 0

  /** Which hostnames there are is read of tenants that have changed since. */
  async function followTenants(isOver: () => boolean): Promise<void> {
    if ((await store.revision()) < followed) followed = 0 // another database
    for (let limit = TENANTS_AT_ONCE; !isOver();) {
      const changed = await changedTenantsAfter(store.read, followed, limit)
      for (const tenantId of await outOfStep(changed)) await followTenant(tenantId)
      const last = changed.at(-1)?.revision ?? followed
      if (changed.length < limit) return void (followed = last)
      // there may be more of the last revision
      if (last - 1 > followed) followed = last - 1
      else limit *= 2
    }
  }

  /** Those of which other hostnames are ordered for than should be. */
  async function outOfStep(changed: readonly { tenantId: string; isGone: boolean }[]) {
    const ids = changed.filter(({ isGone }) => !isGone).map(({ tenantId }) => tenantId)
    const tenants = (await findTenants(store.read, ids)).filter((one) => !isReserved(one.tenantId))
    const wanted = await wantedOf(store.read, tenants)
    const known = Map.groupBy(await acmeOrdersOf(store.read, ids), (row) => row.tenantId)
    return tenants
      .map(({ tenantId }) => tenantId)
      .filter((tenantId) => {
        const ordered = (known.get(tenantId) ?? []).map(({ hostname }) => hostname)
        return !isDeepStrictEqual(new Set(ordered), new Set(wanted.get(tenantId)))
      })
  }

  /** Those of our own hang on the realm that is our own. */
  async function areOwnInStep(): Promise<boolean> {
    const ordered = (await acmeOrdersOf(store.read, [CONSOLE_REALM])).map((row) => row.hostname)
    return isDeepStrictEqual(new Set(ordered), new Set(ownNames))
  }

  async function followOwn(): Promise<void> {
    if (!(await areOwnInStep())) await orderOnly(CONSOLE_REALM, async () => ownNames)
  }

  const followTenant = (tenantId: string) =>
    orderOnly(tenantId, async (queries) => {
      const tenants = await findTenants(queries, [tenantId])
      return (await wantedOf(queries, tenants)).get(tenantId) ?? []
    })

  async function orderOnly(
    tenantId: string,
    find: (queries: Queries) => Promise<readonly string[]>,
  ): Promise<void> {
    await store.changeOf(tenantId, async ({ queries, nowMs }) => {
      const wanted = await find(queries)
      await keepAcmeOrdersOf(queries, tenantId, wanted)
      // what our own name is no more is shown nowhere, and would only end
      if (isReserved(tenantId)) await keepCertificatesOf(queries, tenantId, wanted)
      const known = (await acmeOrdersOf(queries, [tenantId])).map(({ hostname }) => hostname)
      // one that it had before is watched on, and not ordered anew
      const had = (await certificatesOfAll(queries, [tenantId])).map(({ hostname }) => hostname)
      const rows = wanted
        .filter((hostname) => !known.includes(hostname))
        .map((hostname) => {
          const step = had.includes(hostname) ? 'issued' : 'waiting'
          return { hostname, tenantId, step, dueAt: nowMs } as const
        })
      await insertAcmeOrders(queries, rows)
    })
  }

  async function advanceDue(isOver: () => boolean): Promise<number> {
    const due = await dueAcmeOrders(store.read, clock.nowMs(), DUE_AT_ONCE)
    await boundedMap(LIMITS.acmeOrdersAtOnceMax, due, async (row) => {
      try {
        await orders.advance(row, isOver)
      } catch (error) {
        if (isOver()) return
        log.error({ error, hostname: row.hostname }, 'an order is stuck, trying again later')
        await orders.putOff(row)
      }
    })
    return due.length
  }

  /** All that there is to do now, and soon; what comes later is for the next round. */
  async function work(isClosed: () => boolean): Promise<void> {
    const isOver = () => isClosed() || signal.aborted
    const endMs = performance.now() + roundMs
    await followOwn()
    while (!isOver()) {
      await followTenants(isOver)
      if ((await advanceDue(isOver)) > 0) continue
      const nextAt = await nextAcmeOrderAt(store.read)
      const isSoon = nextAt !== undefined && nextAt <= clock.nowMs() + roundMs
      if (!isSoon || performance.now() > endMs) return
      await setTimeout(LOOK_MS, undefined, { ref: false })
    }
  }

  /** Nothing is written, not even whose turn it is, where there is nothing to do. */
  async function isIdle(): Promise<boolean> {
    const nextAt = await nextAcmeOrderAt(store.read)
    const isSoon = nextAt !== undefined && nextAt <= clock.nowMs() + roundMs
    // before there is a tenant, nothing has been changed
    return !isSoon && (await store.revision()) === followed && (await areOwnInStep())
  }

  const workAlone = options.alone(work)
  const runner = createCoalescingRunner(
    async (isClosed) => {
      if (!(await isIdle())) await workAlone(isClosed)
    },
    (error) => log.error({ error }, 'certificates could not be ordered, trying again later'),
  )
  let timer: NodeJS.Timeout | undefined

  return {
    thumbprint,
    prune: authorities.prune,
    start() {
      timer = setInterval(() => void runner.run(), roundMs)
      timer.unref()
    },
    /** One round now. */
    run: runner.run,
    async close(): Promise<void> {
      clearInterval(timer)
      ending.abort()
      await runner.close()
      ways.close()
      await Promise.all([authorities.close(), preflight.close()])
    },
  }
}

async function wantedOf(queries: Queries, tenants: readonly Tenant[]) {
  const ids = tenants.map(({ tenantId }) => tenantId)
  const uploaded = new Set(await uploadedCertificatesOf(queries, ids))
  return new Map(tenants.map((one) => [one.tenantId, orderedHostnames(one, uploaded)]))
}
