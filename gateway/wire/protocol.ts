/** What HTTP/1.1 and HTTP/2 are told alike, and what they tell. */
import type { Asker } from '../../shared/sign-in/bad-request.ts'
import type { Clock } from '../../shared/clock.ts'
import { plainAnswer } from './answer.ts'
import type { Deadlines } from './deadlines.ts'
import type { Exchange, OwnAnswer } from './exchange.ts'
import type { Refusal } from './refusals.ts'
import type { UpstreamFailure } from './upstream-call.ts'

export interface ProtocolTimeouts {
  /** From the first byte of a head to its last, and from the connection to its first request. */
  readonly headMs: number
  /** Without any progress in a body, in either direction. */
  readonly idleMs: number
  /** Between two requests. */
  readonly keepAliveMs: number
}

export type AbuseKind =
  | 'small_reads' // HTTP/1.1
  | 'resets' // HTTP/2, and the two below
  | 'control_frames'
  | 'small_data_frames'
  | 'empty_records' // TLS

/** How an exchange ended, for the log line and the metrics. */
export interface ExchangeOutcome {
  /** What the client was sent; 0 where the connection was gone before. */
  readonly status: number
  /** Bytes of the answer's head and body. */
  readonly bytes: number
  /** The answer did not arrive whole. */
  readonly isCut: boolean
  readonly failure: UpstreamFailure | null
  /** From the request on its way to the application to the head of its answer; else -1. */
  readonly upstreamMs?: number
}

export interface ProtocolOptions {
  readonly handle: (exchange: Exchange) => void
  readonly timeouts: ProtocolTimeouts
  readonly clock?: Clock
  /** Shared with others, or made and closed by this server. */
  readonly deadlines?: Deadlines
  readonly onExchangeEnd?: (exchange: Exchange, outcome: ExchangeOutcome) => void
  /** A head that was refused before there was an exchange. */
  readonly onRefusal?: (refusal: Refusal, peerAddress: string) => void
  /** A connection was ended for what its client did. */
  readonly onAbuse?: (kind: AbuseKind, peerAddress: string) => void
  /** What `handle` threw. */
  readonly onError?: (error: unknown) => void
  readonly refusalAnswer?: (refusal: Refusal, asker: Asker) => OwnAnswer
  readonly failureAnswer?: (failure: UpstreamFailure, exchange: Exchange) => OwnAnswer
  /** Addresses that the limit per address does not count: balancers in front. */
  readonly isExempt?: (address: string) => boolean
}

export type CallerCode = ReturnType<typeof callerCode>

/** What the caller gave us may throw: that is reported, and ends nothing else. */
export function callerCode(options: ProtocolOptions) {
  /** Calls something of the caller's. */
  function guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      options.onError?.(error)
    }
  }

  /** A page that cannot be made is replaced by a plain one. */
  function answerOf<Reason extends Refusal | UpstreamFailure, Rest extends unknown[]>(
    make: ((reason: Reason, ...rest: Rest) => OwnAnswer) | undefined,
    reason: Reason,
    ...rest: Rest
  ): OwnAnswer {
    let answer: OwnAnswer | undefined
    guard(() => (answer = make?.(reason, ...rest)))
    return answer ?? plainAnswer(reason)
  }

  return {
    refusalAnswer: (refusal: Refusal, asker: Asker) =>
      answerOf(options.refusalAnswer, refusal, asker),
    failureAnswer: (failure: UpstreamFailure, exchange: Exchange) =>
      answerOf(options.failureAnswer, failure, exchange),
    guard,
    /** Runs per request: no function is made for it. */
    tellEnd(exchange: Exchange, outcome: ExchangeOutcome): void {
      try {
        options.onExchangeEnd?.(exchange, outcome)
      } catch (error) {
        options.onError?.(error)
      }
    },
  }
}
