/**
 * The authorities that orders go to, in the order of the settings. One that is busy is left alone by
 * all control planes, and after a restart too, for as long as it has asked for; the next one serves.
 * A limit may be of one hostname or one domain, and those are chosen by tenants: so it keeps its own
 * tenant waiting, and everybody once several have met it.
 */
import type { Logger } from 'pino'
import { DAY_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  acmeAuthoritiesOf,
  clearAcmeAuthority,
  countAcmePauses,
  deleteAcmePausesBefore,
  putAcmeAuthority,
  type AcmeOrder,
} from '../store/queries/acme-orders.ts'
import { pruneWith } from '../store/statements.ts'
import type { Queries } from '../store/engine.ts'
import type { Store } from '../store/store.ts'
import type { AcmeAccount } from './account-key.ts'
import { createAcmeClient, type AcmeClient, type ExternalAccount } from './client.ts'
import type { DnsZone } from './dns-zone.ts'
import type { AcmeProblem } from './problem.ts'
import { authorityPauseMs } from './schedule.ts'
import type { Tracing } from '../tracing/tracing.ts'

export interface AcmeSettings {
  /** The first is asked; the next where it cannot. */
  readonly authorities: readonly {
    readonly directory: string
    readonly externalAccount?: ExternalAccount | undefined
  }[]
  readonly email: string | null
  readonly profile: string | null
  /** Where names are proven by DNS; null: nowhere. */
  readonly dns?: DnsZone | null
  /** For all hostnames right below these, one certificate each: `*.apps.example.com`. */
  readonly wildcards?: readonly string[]
}

interface AuthoritiesWorld extends AcmeSettings {
  readonly account: AcmeAccount
  readonly store: Store
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly ca?: string | undefined
  readonly tracing?: Pick<Tracing, 'span'> | undefined
  readonly log: Pick<Logger, 'warn'>
}

export interface Authority {
  readonly directory: string
  readonly client: AcmeClient
}

/** Whose order it is. */
type Asking = Pick<AcmeOrder, 'tenantId' | 'hostname'>

/** Others who have met a limit at the moment: with so many it is a limit of all. */
const OTHERS_AT_LIMIT = 2

export type Authorities = ReturnType<typeof createAuthorities>

export function createAuthorities(world: AuthoritiesWorld) {
  const { authorities, account, store, clock, log, ...others } = world
  const all: readonly Authority[] = authorities.map(({ directory, externalAccount }) => ({
    directory,
    client: createAcmeClient({
      ...others,
      directory,
      externalAccount,
      key: account.key,
      nowMs: () => clock.nowMs(),
    }),
  }))
  const directories = all.map(({ directory }) => directory)

  const pauses = async (keys: readonly string[]) => {
    const rows = await acmeAuthoritiesOf(store.read, keys)
    const pausedUntil = new Map(rows.map((row) => [row.directory, row.pausedUntil]))
    return (key: string) => pausedUntil.get(key) ?? 0
  }

  async function whoseLimit(queries: Queries, directory: string, { tenantId }: Asking) {
    const own = ofTenant(directory, tenantId)
    const others = { prefix: ofTenant(directory, ''), except: own, afterMs: clock.nowMs() }
    const isOfAll = (await countAcmePauses(queries, others)) >= OTHERS_AT_LIMIT
    return isOfAll ? directory : own
  }

  return {
    /** undefined: it is in the settings no more. */
    find: (directory: string | null) => all.find((one) => one.directory === directory),

    /** Those that this hostname may ask now, beginning behind the one that has refused; else when one may be. */
    async free({ tenantId, hostname }: Asking, refusedBy: string | null) {
      const keysOf = (directory: string) => [
        directory,
        ofTenant(directory, tenantId),
        ofHostname(directory, hostname),
      ]
      const until = await pauses(directories.flatMap(keysOf))
      const pausedUntil = ({ directory }: Authority) => Math.max(...keysOf(directory).map(until))
      const from = directories.indexOf(refusedBy ?? '') + 1
      const turned = [...all.slice(from), ...all.slice(0, from)]
      const authorities = turned.filter((one) => pausedUntil(one) <= clock.nowMs())
      return { authorities, freeAt: Math.min(...all.map(pausedUntil)) }
    },

    /** Until when this one is left alone by this tenant; 0: it is not. */
    async pausedUntil(directory: string, { tenantId }: Asking): Promise<number> {
      const own = ofTenant(directory, tenantId)
      const until = await pauses([directory, own])
      const last = Math.max(until(directory), until(own))
      return last > clock.nowMs() ? last : 0
    },

    /** Answers until when it is left alone; for as long as it says by whoever it has said it to. */
    async isBusy({ directory, client }: Authority, asking: Asking, problem: AcmeProblem) {
      client.forget()
      const { status, type, message, retryAfterMs } = problem
      const pausedUntil = await store.change(async ({ queries, nowMs }) => {
        const key = ofHostname(directory, asking.hostname)
        const own = nowMs + Math.min(retryAfterMs ?? 0, LIMITS.acmePauseMsMax)
        if (own > nowMs)
          await putAcmeAuthority(queries, { directory: key, refusals: 0, pausedUntil: own })
        const ofWhom = problem.isLimit ? await whoseLimit(queries, directory, asking) : directory
        const [known] = await acmeAuthoritiesOf(queries, [ofWhom])
        // of those that were asked at the same time, one counts
        if (known !== undefined && known.pausedUntil > nowMs) return known.pausedUntil
        const refusals = (known?.refusals ?? -1) + 1
        const until = nowMs + authorityPauseMs(refusals, retryAfterMs)
        await putAcmeAuthority(queries, { directory: ofWhom, refusals, pausedUntil: until })
        return until
      })
      const until = new Date(pausedUntil).toISOString()
      const said = { directory, tenant_id: asking.tenantId, status, type, reason: message, until }
      log.warn(said, 'a certificate authority cannot take orders now')
      return pausedUntil
    },

    /** It has taken one. */
    async takesOrders({ directory }: Authority, { tenantId }: Asking): Promise<void> {
      const known = await acmeAuthoritiesOf(store.read, [directory, ofTenant(directory, tenantId)])
      if (known.length === 0) return
      await store.change(async ({ queries }) => {
        for (const one of known) await clearAcmeAuthority(queries, one.directory)
      })
    },

    /** Pauses that are long over. */
    prune: pruneWith(store, deleteAcmePausesBefore, DAY_MS),

    async close(): Promise<void> {
      await Promise.all(all.map(({ client }) => client.close()))
    },
  }
}

/** A limit may be of one hostname. */
const ofHostname = (directory: string, hostname: string) => `${directory} ${hostname}`
/** No hostname has a colon. */
const ofTenant = (directory: string, tenantId: string) => `${directory} tenant:${tenantId}`
