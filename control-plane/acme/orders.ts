/**
 * One hostname on its way to a certificate, and to the next one. Every step is written down before
 * the next is taken, and what is done at the authority is asked there: so whoever goes on after a
 * crash finds the same order. A row is written by whoever has read its newest state, and by nobody
 * else; a hostname that goes takes its row along, and then nothing comes of what is under way.
 */
import { createPrivateKey } from 'node:crypto'
import type { Logger } from 'pino'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { PURPOSES } from '../keys/sealed-columns.ts'
import type { Vault } from '../keys/vault.ts'
import {
  advanceAcmeOrder,
  deleteAcmeOrder,
  findAcmeOrder,
  wakeAcmeFollowers,
  type AcmeOrder,
} from '../store/queries/acme-orders.ts'
import { findCertificate } from '../store/queries/certificates.ts'
import { takeRate } from '../store/queries/rates.ts'
import type { Store } from '../store/store.ts'
import {
  openCertificate,
  type Certificates,
  type OpenCertificate,
} from '../tenants/certificates.ts'
import { newKeyPem } from './account-key.ts'
import type { Authorities, Authority } from './authorities.ts'
import type { Order, Waiting } from './client.ts'
import { findAhead, findCovering } from './covering.ts'
import { certificateRequest, renewalIdOf } from './csr.ts'
import { dnsValueOf } from './dns-zone.ts'
import { AcmeProblem, problemIn, problemOf, problemOfAuthorization } from './problem.ts'
import { ORDER_MS_MAX, pauseMs, pollMs } from './schedule.ts'
import { createWatching } from './watching.ts'
import { parentOf, type createWays } from './ways.ts'
import { sentenceOf } from './words.ts'

interface OrdersWorld {
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
  readonly certificates: Pick<Certificates, 'putOrdered'>
  readonly authorities: Authorities
  readonly ways: Pick<ReturnType<typeof createWays>, 'find'>
  readonly thumbprint: string
  readonly random: () => number
  /** What fails behind it fails because we stop. */
  readonly signal: AbortSignal
  readonly log: Pick<Logger, 'warn'>
}

/** How it stands now; undefined: it is somebody else's, or nobody's. */
type Next = Promise<AcmeOrder | undefined>

/** Whoever asks for an order has so long for it, the last request with all of its time; then others look for it. */
const ASKED_MS = 5 * LIMITS.acmeRequestMsMax
const askedUntil = ({ dueAt }: AcmeOrder) => dueAt - LIMITS.acmeRequestMsMax

/** Until all control planes answer with what was written, and no name server remembers the time before. */
const SHOWN_MS = 2 * SECOND_MS
/** Somebody else's order is looked at again. */
const AHEAD_MS = 2 * SECOND_MS

const NO_ORDER = {
  orderUrl: null,
  startedAt: null,
  privateKeySealed: null,
  dnsLabel: null,
  dnsValue: null,
} as const

const ENOUGH =
  'This tenant has asked for many certificates lately. This one is ordered when it is its turn.'
const ordersOf = ({ tenantId }: AcmeOrder) => ({
  kind: 'certificate orders',
  key: tenantId,
  rate: LIMITS.rateAcmeOrders,
})

/** What is ordered. */
const nameOf = ({ identifier, hostname }: AcmeOrder) => identifier ?? hostname

export function createOrders(world: OrdersWorld) {
  const { store, vault, clock, certificates, authorities, ways, thumbprint, random, signal, log } =
    world

  function step(row: AcmeOrder): Next {
    switch (row.step) {
      case 'waiting':
        return begin(row)
      case 'asking':
        return askAgain(row)
      case 'ordered':
        return atAuthority(row, (authority) => answer(row, authority))
      case 'answered':
        return atAuthority(row, (authority) => follow(row, authority))
      case 'issued':
        return watching.watch(row)
      default:
        return unreachable(row.step)
    }
  }

  function write(row: AcmeOrder, changes: Parameters<typeof advanceAcmeOrder>[2]): Next {
    return store.changeOf(row.tenantId, ({ queries }) => advanceAcmeOrder(queries, row, changes))
  }

  async function begin(row: AcmeOrder): Next {
    const adopted = await adopt(row)
    if (adopted !== undefined) return adopted
    const ahead = await findAhead(store.read, row, `*.${parentOf(row.hostname)}`, clock.nowMs())
    if (ahead !== undefined && ahead.step !== 'waiting') return standBehind(row, ahead)
    // that is known here; what leads where is asked of others
    const free = await authorities.free(row, row.authority)
    if (free.authorities.length === 0) return write(row, { dueAt: free.freeAt })
    const way = await ways.find(row)
    if (signal.aborted) return undefined
    if (way.kind === 'none') return fail(row, way.obstacle)
    const identifier = way.kind === 'dns' ? way.identifier : row.hostname
    for (const authority of free.authorities) {
      try {
        await authority.client.account()
      } catch (error) {
        // whoever lets us have no account lets no hostname have a certificate
        const problem = problemIn(error)
        if (signal.aborted) return undefined
        await authorities.isBusy(authority, row, problem)
        if (authority !== free.authorities.at(-1)) continue
        return write(row, { problem: sentenceFor(row, problem) })
      }
      const nowMs = clock.nowMs()
      const asking = await store.changeOf(row.tenantId, async (change) => {
        const { queries } = change
        const other = await findAhead(queries, row, identifier, nowMs)
        if (other !== undefined) return advanceAcmeOrder(queries, row, behind(other))
        const waitSeconds = await takeRate(change, ordersOf(row))
        if (waitSeconds !== undefined)
          return advanceAcmeOrder(queries, row, {
            dueAt: nowMs + waitSeconds * SECOND_MS,
            problem: ENOUGH,
          })
        return advanceAcmeOrder(queries, row, {
          step: 'asking',
          authority: authority.directory,
          startedAt: nowMs,
          // by then whoever asks has been answered, or is gone
          dueAt: nowMs + ASKED_MS,
          privateKeySealed: vault.seal(newKeyPem(), PURPOSES.acmeOrder(row)),
          identifier: identifier === row.hostname ? null : identifier,
          dnsLabel: way.kind === 'dns' ? way.label : null,
          follows: null,
        })
      })
      if (asking?.step !== 'asking') return asking
      // given up there before, and never heard of
      const isUnheard = row.startedAt !== null && row.authority === authority.directory
      return atAuthority(asking, () => order(asking, authority, isUnheard ? row.dueAt : undefined))
    }
    return undefined
  }

  /** Of one who orders what this hostname needs, too. */
  function behind({ step, dueAt, problem }: AcmeOrder) {
    const freeAt = step === 'waiting' ? dueAt : clock.nowMs()
    // else two that have failed before would wait for each other for good
    return { dueAt: freeAt + AHEAD_MS, problem, failures: 0 }
  }
  const standBehind = (row: AcmeOrder, other: AcmeOrder): Next => write(row, behind(other))

  /** What was ordered for others and names this hostname, too; undefined: there is none that is newer. */
  async function adopt(row: AcmeOrder): Next {
    const found = await findCovering(store.read, row, clock.nowMs())
    if (found === undefined) return undefined
    const { source, certificate } = found
    const given = { ...openCertificate(certificate, vault), hostname: row.hostname }
    const { issuedBy, hostname: follows } = source
    return keep(row, given, { issuedBy, follows, identifier: nameOf(source) })
  }

  /**
   * Whoever has begun it may have been answered, and have been gone before he wrote it down. Two who
   * both find that must not both ask: it is taken before it is looked for.
   */
  async function askAgain(row: AcmeOrder): Next {
    const taken = await write(row, { dueAt: clock.nowMs() + ASKED_MS })
    return taken && atAuthority(taken, (authority) => order(taken, authority, row.dueAt))
  }

  /** `unheardSince`: somebody may have asked for it before that time, and nobody knows whether it is there. */
  async function order(row: AcmeOrder, authority: Authority, unheardSince?: number): Next {
    const { client } = authority
    const isUnheard = unheardSince !== undefined
    let orderUrl = isUnheard ? await client.orderUnderWay(nameOf(row), unheardSince) : undefined
    try {
      orderUrl ??= (await newOrder(row, authority)).url
    } catch (error) {
      const problem = problemIn(error)
      if (!problem.isBusy || !problem.isRefusal) throw error
      await authorities.isBusy(authority, row, problem)
      const [dueAt, said] = [clock.nowMs(), sentenceFor(row, problem)]
      return write(row, { ...NO_ORDER, step: 'waiting', dueAt, problem: said })
    }
    const ordered = await write(row, { step: 'ordered', orderUrl, dueAt: clock.nowMs() })
    await authorities.takesOrders(authority, row)
    return ordered
  }

  async function newOrder(row: AcmeOrder, { client, directory }: Authority) {
    const known = await findCertificate(store.read, row.hostname)
    const isReplaced = known?.isOrdered === true && row.issuedBy === directory
    const replaces = isReplaced ? (renewalIdOf(known.certificatePem) ?? null) : null
    try {
      return await client.newOrder(nameOf(row), replaces, askedUntil(row))
    } catch (error) {
      if (problemIn(error).type !== 'alreadyReplaced') throw error
      return client.newOrder(nameOf(row), null, askedUntil(row))
    }
  }

  async function answer(row: AcmeOrder, authority: Authority): Next {
    const { client } = authority
    const asked = await client.order(row.orderUrl ?? '')
    // what was proven lately need not be proven again
    if (asked.status !== 'pending') return follow(row, authority, asked)
    const wanted = row.dnsLabel === null ? 'http-01' : 'dns-01'
    for (const url of asked.authorizations) {
      const authorization = await client.authorization(url)
      if (authorization.status === 'valid') continue
      const challenge = authorization.challenges.find(({ type }) => type === wanted)
      if (authorization.status !== 'pending')
        return refuse(row, problemOfAuthorization(authorization))
      if (challenge?.url === undefined)
        return refuse(row, new AcmeProblem(`It does not offer ${wanted} for this hostname.`))
      if (row.dnsLabel !== null) {
        const dnsValue = dnsValueOf(challenge.token ?? '', thumbprint)
        // what it looks for is there before it is told to look
        if (row.dnsValue !== dnsValue)
          return write(row, { dnsValue, dueAt: clock.nowMs() + SHOWN_MS })
      }
      try {
        await client.challenge(challenge.url)
      } catch (error) {
        // somebody else has told it meanwhile
        if (problemIn(error).isBusy || (await client.authorization(url)).status === 'pending')
          throw error
      }
    }
    return write(row, { step: 'answered', dueAt: clock.nowMs() + SECOND_MS })
  }

  async function follow(row: AcmeOrder, authority: Authority, asked?: Waiting<Order>): Next {
    const { client } = authority
    const found = asked ?? (await client.order(row.orderUrl ?? ''))
    switch (found.status) {
      case 'pending':
      case 'invalid': {
        for (const url of found.authorizations) {
          const authorization = await client.authorization(url)
          if (authorization.status !== 'pending' && authorization.status !== 'valid')
            return refuse(row, problemOfAuthorization(authorization))
        }
        if (found.status === 'invalid') return refuse(row, problemOf(found.error))
        return later(row, found.retryAfterMs)
      }
      case 'ready': {
        const csr = certificateRequest(nameOf(row), createPrivateKey(keyOf(row)))
        const finalized = await client.finalize(found.finalize, csr).catch(orderIsOver)
        // whoever else went on with it was first, and what comes of it is as good
        if (finalized === undefined) return later(row, undefined)
        if (finalized.status === 'valid') return collect(row, authority, finalized)
        return later(row, finalized.retryAfterMs)
      }
      case 'processing':
        return later(row, found.retryAfterMs)
      case 'valid':
        return collect(row, authority, found)
      default:
        return unreachable(found.status)
    }
  }

  async function collect(row: AcmeOrder, { client, directory }: Authority, done: Order): Next {
    const { hostname } = row
    const certificatePem = await client.certificate(done.certificate ?? '')
    if (certificatePem.length > LIMITS.certificateBytesMax)
      return refuse(row, new AcmeProblem('Its certificate is too large.'))
    const given = { hostname, certificatePem, privateKeyPem: keyOf(row) }
    return keep(row, given, { issuedBy: directory, follows: null })
  }

  async function keep(
    row: AcmeOrder,
    given: OpenCertificate,
    whose: Partial<Pick<AcmeOrder, 'issuedBy' | 'follows' | 'identifier'>>,
  ): Next {
    const { hostname, tenantId } = row
    try {
      return await store.change(async (change) => {
        const { queries, nowMs } = change
        const issued = await advanceAcmeOrder(queries, row, {
          ...NO_ORDER,
          ...whose,
          step: 'issued',
          authority: null,
          failures: 0,
          problem: null,
          renewAt: null,
          dueAt: nowMs,
        })
        if (issued === undefined) return undefined
        const facts = await certificates.putOrdered(change, tenantId, given)
        const limit = issued.follows === null ? LIMITS.acmeFollowersWokenMax : 1
        await wakeAcmeFollowers(queries, issued.follows ?? hostname, { nowMs, limit })
        if (facts !== undefined) return issued
        await deleteAcmeOrder(queries, hostname, tenantId)
        return undefined
      })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return fail(row, error.message)
    }
  }

  async function atAuthority(row: AcmeOrder, work: (authority: Authority) => Next): Next {
    const authority = authorities.find(row.authority)
    const dueAt = clock.nowMs()
    if (authority === undefined) return write(row, { ...NO_ORDER, step: 'waiting', dueAt })
    const pausedUntil = await authorities.pausedUntil(authority.directory, row)
    if (pausedUntil > 0) return write(row, { dueAt: pausedUntil })
    try {
      return await work(authority)
    } catch (error) {
      const problem = problemIn(error)
      if (signal.aborted) return undefined
      if (!problem.isBusy || isOverdue(row)) return refuse(row, problem)
      const freeAt = await authorities.isBusy(authority, row, problem)
      return write(row, { dueAt: freeAt, problem: sentenceFor(row, problem) })
    }
  }

  function later(row: AcmeOrder, saidMs: number | undefined): Next {
    if (isOverdue(row))
      return refuse(row, new AcmeProblem('The order has not been completed in time.'))
    const nowMs = clock.nowMs()
    const ageMs = nowMs - (row.startedAt ?? nowMs)
    return write(row, { step: 'answered', dueAt: nowMs + pollMs(ageMs, saidMs) })
  }

  const isOverdue = ({ startedAt }: AcmeOrder) => clock.nowMs() - (startedAt ?? 0) > ORDER_MS_MAX

  function refuse(row: AcmeOrder, problem: AcmeProblem): Next {
    const isUnheard = row.step === 'asking' && (problem.isBusy || !problem.isRefusal)
    return fail(row, sentenceFor(row, problem), isUnheard)
  }

  const sentenceFor = (row: AcmeOrder, problem: AcmeProblem) =>
    sentenceOf(nameOf(row), problem, row.dnsLabel !== null)

  /** `isUnheard`: there may be an order of which nobody knows; that it was begun is kept as the sign of it. */
  async function fail(row: AcmeOrder, problem: string, isUnheard = row.step === 'waiting'): Next {
    const startedAt = isUnheard ? row.startedAt : null
    const failures = row.failures + 1
    const dueAt = clock.nowMs() + pauseMs(failures)
    log.warn({ hostname: row.hostname, reason: problem, failures }, 'no certificate yet')
    return write(row, { ...NO_ORDER, startedAt, step: 'waiting', failures, problem, dueAt })
  }

  const watching = createWatching({ store, clock, authorities, random, log, write, adopt })

  const keyOf = (row: AcmeOrder) => vault.open(row.privateKeySealed ?? '', PURPOSES.acmeOrder(row))

  return {
    /** As far as it gets now. */
    async advance(row: AcmeOrder, isClosed: () => boolean): Promise<void> {
      let at: AcmeOrder | undefined = row
      while (at !== undefined && at.dueAt <= clock.nowMs() && !isClosed()) at = await step(at)
    },
    /** Something is wrong with it, here: it must not stand before all others. */
    async putOff(row: AcmeOrder): Promise<void> {
      const nowMs = clock.nowMs()
      const at = await findAcmeOrder(store.read, row.hostname)
      if (at !== undefined && at.dueAt <= nowMs) await write(at, { dueAt: nowMs + pauseMs(1) })
    },
  }
}

function orderIsOver(error: unknown): undefined {
  if (problemIn(error).type !== 'orderNotReady') throw error
}

function unreachable(step: never): never {
  throw new Error(`no case for ${JSON.stringify(step)}`)
}
