/**
 * What `enforce()` and `verifyClaims()` are to a framework: one request in, one outcome out. Adapters
 * only carry outcomes out; no adapter decides anything.
 */
import type { MachinePass } from '../../../shared/enforcement/machines.ts'
import type { TokenClaims } from '../../../shared/enforcement/token.ts'

export interface GuardedRequest {
  readonly method: string
  /** Exactly as it stood on the request line. */
  readonly target: string
  /** Header lines as received: name, value, name, value. */
  readonly rawHeaders: readonly string[]
  /** `unix:` on a unix socket, `unknown` where the framework does not tell; '' is nobody's. */
  readonly peerAddress: string
  readonly isSecure: boolean
}

export interface Identity {
  /** The token itself, for `X-Service-Claims`. */
  readonly token: string
  readonly claims: TokenClaims
  /** Those that access rules speak of, for `X-Service-Groups`; undefined where there are no rules. */
  readonly groups?: readonly string[] | undefined
}

export type Outcome =
  | {
      /** The application answers. Whatever named a user on the way in has to be gone by then. */
      readonly kind: 'forward'
      /** Path and query that were decided on; the application is to route by no other. */
      readonly target: string
      readonly identity: Identity | undefined
      /** A page of another site asked: nobody is named, and `service_session` does not go on. */
      readonly isForeignPage: boolean
      /** A machine came in by its Authorization, which is not the application's to read. */
      readonly isTokenOurs?: boolean
      /** Values of Set-Cookie, for an answer that no shared cache may store; else left out. */
      readonly privateCookies: readonly string[]
      /** Of the request that was let in, for as long as it is open. */
      readonly asked?: {
        readonly method: string
        readonly methodOverrides: readonly string[]
        readonly clientAddress: string
        readonly machine: MachinePass | undefined
      }
    }
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly headers: readonly Header[]
      readonly body: string
    }
export type Forward = Extract<Outcome, { kind: 'forward' }>
export type Answer = Extract<Outcome, { kind: 'answer' }>

type Header = readonly [name: string, value: string]

const answer = (status: number, headers: readonly Header[], body: string): Answer => ({
  kind: 'answer',
  status,
  headers: [...headers, ['Cache-Control', 'no-store']],
  body,
})

export const jsonAnswer = (status: number, body: object, ...headers: readonly Header[]): Answer =>
  answer(status, [['Content-Type', 'application/json'], ...headers], JSON.stringify(body))

export const probeAnswer = (verdict: { readonly nonce: string } | string): Answer =>
  typeof verdict === 'string'
    ? answer(401, [['X-Service-Probe-Reply', '']], '')
    : answer(204, [['X-Service-Probe-Reply', verdict.nonce]], '')

const INVALID = { error: 'request_invalid', detail: 'The request is not valid HTTP.' }
export const REQUEST_INVALID = jsonAnswer(400, INVALID)

/** What somebody who was let in still has open. */
export interface StillOpen {
  /** Whether its session is in use by it, since this was asked last. */
  isActive(): boolean
  /** Nobody but the application, or its client, knows when it ends: an event stream, a WebSocket. */
  isOpenEnded(): boolean
  /** There is nothing left to end. */
  isOver(): boolean
  end(): void
}

export interface Guard {
  /** At once where nothing has to be asked for: most requests. Never throws, never rejects. */
  judge(request: GuardedRequest): Outcome | Promise<Outcome>
  /** Ends it when a request like the one that was let in no longer would be; answers how to stop. */
  watch?(admitted: Extract<Outcome, { kind: 'forward' }>, open: StillOpen): () => void
  /** Settles when the guard has what it needs to let anybody in. */
  ready(): Promise<void>
  close(): Promise<void>
}
