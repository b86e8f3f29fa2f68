/**
 * A client of TLS 1.3 changes its key as often as it likes: 27 bytes that cost ten microseconds, and all
 * that a socket holds of them is worked through within OpenSSL with not a line of ours between. So
 * what came over a connection is held against what it brought, several times a second and at once
 * behind a turn that took long. Records that bring nothing are paid for by their site, and where it
 * owes, the connections that sent them end and no others begin (.docs/decisions/0072-empty-records.md).
 */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { SteadyClock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { AddressCounts } from '../wire/address-counts.ts'
import { Spending } from '../wire/budget.ts'

interface Watched {
  readonly secure: TLSSocket
  /** What carries it. */
  readonly raw: Socket
  readonly peerAddress: string
  /** Of a connection from a balancer, which is many people: its own. */
  readonly own: Spending | undefined
  rawBytes: number
  clearBytes: number
  /** What came and has not brought anything yet: no more than of a record that is under way. */
  pendingBytes: number
}

interface RecordWatchOptions {
  readonly addresses: AddressCounts
  readonly clock: SteadyClock
  /** One connection was ended for it. */
  readonly onEnded: (peerAddress: string) => void
  /** How much of the time since the last look this thread has worked, of 1. */
  readonly busyShare?: () => number
}

function busyShareOfThread(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}

export class RecordWatch {
  readonly #options: RecordWatchOptions
  readonly #busyShare: () => number
  readonly #watched = new Set<Watched>()
  #round = this.#watched.values()
  #lookedMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: RecordWatchOptions) {
    this.#options = options
    this.#busyShare = options.busyShare ?? busyShareOfThread()
  }

  /** From the end of its handshake on. */
  add(secure: TLSSocket, raw: Socket, peerAddress: string, isBalancer: boolean): void {
    const own = isBalancer
      ? new Spending(LIMITS.emptyRecordBytes, this.#options.clock.steadyMs())
      : undefined
    const { bytesRead: rawBytes } = raw
    const { bytesRead: clearBytes } = secure
    this.#watched.add({ secure, raw, peerAddress, own, rawBytes, clearBytes, pendingBytes: 0 })
    this.#timer ??= setInterval(() => this.look(), LIMITS.emptyRecordsLookMs).unref()
  }

  /** Its connections sent more of them than it has earned. */
  hasSpent(peerAddress: string): boolean {
    const { addresses, clock } = this.#options
    return addresses.siteOf(peerAddress).emptyRecords?.isSpent(clock.steadyMs()) === true
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** What each has sent since the last look. */
  look(): void {
    const nowMs = this.#options.clock.steadyMs()
    const isLate = nowMs - this.#lookedMs > 2 * LIMITS.emptyRecordsLookMs
    this.#lookedMs = nowMs
    const count = Math.min(this.#watched.size, isLate ? Infinity : this.#lookedAt())
    const charged: Watched[] = []
    for (let looked = 0; looked < count; looked++) {
      const one = this.#next()
      if (one !== undefined && this.#charge(one, nowMs)) charged.push(one)
    }
    // Behind all of them: the last one may have spent what the first one sent on.
    for (const one of charged)
      if (this.#spendingOf(one, nowMs).isSpent(nowMs) && !one.secure.destroyed) {
        one.secure.destroy()
        this.#options.onEnded(one.peerAddress)
      }
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Where there is time to spare nothing is taken from anybody: thousands that are idle cost little. */
  #lookedAt(): number {
    const isIdle = this.#busyShare() < LIMITS.emptyRecordsBusyShareMin
    return isIdle ? LIMITS.emptyRecordsLookedAtIdle : LIMITS.emptyRecordsLookedAt
  }

  #next(): Watched | undefined {
    let next = this.#round.next()
    if (next.done === true) {
      this.#round = this.#watched.values()
      next = this.#round.next()
    }
    return next.value
  }

  /** True where it has sent what it has to pay for. */
  #charge(one: Watched, nowMs: number): boolean {
    const { secure, raw } = one
    const [rawBytes, clearBytes] = [raw.bytesRead, secure.bytesRead]
    // Each byte that a record brings pays for one that it costs: 22 or 29 of an honest one.
    const brought = 2 * (clearBytes - one.clearBytes)
    one.pendingBytes = Math.max(0, one.pendingBytes + rawBytes - one.rawBytes - brought)
    one.rawBytes = rawBytes
    one.clearBytes = clearBytes
    const isOver = secure.destroyed
    if (isOver) this.#watched.delete(one)
    // The rest of a record can bring something yet, unless there is none to come.
    const empty = one.pendingBytes - (isOver ? 0 : LIMITS.tlsRecordBytesMax)
    if (empty <= 0) return false
    one.pendingBytes -= empty
    this.#spendingOf(one, nowMs).charge(nowMs, empty)
    return true
  }

  #spendingOf({ own, peerAddress }: Watched, nowMs: number): Spending {
    if (own !== undefined) return own
    const site = this.#options.addresses.debtorOf(peerAddress)
    return (site.emptyRecords ??= new Spending(LIMITS.emptyRecordBytes, nowMs))
  }
}
