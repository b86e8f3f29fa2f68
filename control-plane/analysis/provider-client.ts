/**
 * Asks a provider: one question, a few attempts, one deadline. What passes by itself (429, 5xx, a
 * connection that breaks) is tried again, no sooner than the provider says and only while there is
 * time. No redirect is followed: the key and a customer's code go to the configured address alone.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Dispatcher } from 'undici'
import { SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { anthropic } from './anthropic.ts'
import { openai } from './openai.ts'
import {
  ProviderFailure,
  type AiSettings,
  type Deadline,
  type FailureKind,
  type Meter,
  type Provider,
  type Question,
} from './provider.ts'
import type { Wire } from './wire.ts'

export interface ProviderWorld {
  /** Between two attempts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
  readonly random?: () => number
  readonly nowMs?: () => number
}

const WIRES: Readonly<Record<AiSettings['provider'], Wire>> = { anthropic, openai }
const FIRST_WAIT_MS = 500
const CONNECT_MS_MAX = 10 * SECOND_MS
/** Of an answer that tells of a problem. */
const PROBLEM_BYTES_MAX = 64 * 1024

type Attempt =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'failed'
      readonly failure: ProviderFailure
      /** It may go better the next time. */
      readonly isPassing: boolean
      readonly waitMs: number
    }

export function createProvider(settings: AiSettings, world: ProviderWorld = {}): Provider {
  const {
    wait = async (ms, signal) => void (await sleep(ms, undefined, { signal })),
    random = Math.random,
    nowMs = Date.now,
  } = world
  const { provider: name, model } = settings
  const wire = WIRES[name]
  const url = new URL((settings.baseUrl ?? wire.defaultBaseUrl) + wire.path)
  const agent = new Agent({
    connect: { timeout: CONNECT_MS_MAX },
    connections: LIMITS.analysesAtOnceMax,
    pipelining: 1,
    headersTimeout: settings.timeoutMs,
    bodyTimeout: settings.timeoutMs,
  })

  async function attempt(body: string, { signal }: Deadline, count: Meter['count']) {
    let answer: Dispatcher.ResponseData
    try {
      answer = await agent.request({
        origin: url.origin,
        path: url.pathname,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'user-agent': 'Service-Analysis/1',
          ...wire.headers(settings.key),
        },
        body,
        signal,
      })
    } catch (error) {
      const code = codeOf(error)
      // whoever was never reached has counted nothing; else it counts as it was held
      if (/^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(code))
        count(0)
      return passing({ code })
    }
    const { statusCode: status, headers } = answer
    const id = headers[wire.requestIdHeader]
    const detail = { status, provider_request_id: typeof id === 'string' ? id.slice(0, 100) : null }
    if (status !== 200) {
      count(0)
      const told = { ...detail, ...problemIn(await read(answer, PROBLEM_BYTES_MAX)) }
      return isPassing(status, told)
        ? passing(told, retryAfterMs(headers['retry-after'], nowMs()))
        : failed('refused', told)
    }
    const text = await read(answer, LIMITS.analysisAnswerBytesMax)
    if (text === undefined)
      return failed('unusable', { ...detail, problem: 'broken off or too large' })
    const answered = wire.read(parsed(text))
    if (answered === undefined) return failed('unusable', { ...detail, problem: 'not its format' })
    if (answered.tokens !== undefined) count(answered.tokens)
    if (answered.ending === 'whole') return { kind: 'text', text: answered.text } as const
    return failed(answered.ending, detail)
  }

  return {
    name,
    model,
    async ask(question, deadline, meter) {
      const body = JSON.stringify(wire.body(question, settings))
      for (let tries = 1; ; tries++) {
        await meter.hold(tokensAtMost(question, settings))
        const outcome: Attempt = await attempt(body, deadline, meter.count)
        if (outcome.kind === 'text') return outcome.text
        if (deadline.signal.aborted) throw ended(deadline, outcome.failure)
        const backOffMs = FIRST_WAIT_MS * 2 ** (tries - 1) * (0.5 + random())
        const waitMs = Math.max(outcome.waitMs, backOffMs)
        const isLast = tries >= LIMITS.analysisAttemptsMax || waitMs >= deadline.remainingMs()
        if (!outcome.isPassing || isLast) throw outcome.failure
        await wait(waitMs, deadline.signal).catch(() => {
          throw ended(deadline, outcome.failure)
        })
      }
    },
    close: () => agent.destroy(),
  }
}

/** By the deadline, or because this program ends. */
function ended({ signal }: Deadline, { detail }: ProviderFailure): ProviderFailure {
  const isLate = (signal.reason as Error | undefined)?.name === 'TimeoutError'
  return new ProviderFailure(isLate ? 'timeout' : 'unavailable', detail)
}

/** More than text of this length comes to, as a rule: three bytes are a token, and the answer whole. */
export function tokensAtMost(
  { system, messages }: Pick<Question, 'system' | 'messages'>,
  { outputTokensMax }: Pick<AiSettings, 'outputTokensMax'>,
): number {
  const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  return Math.ceil((bytes + Buffer.byteLength(system)) / 3) + outputTokensMax
}

function failed(kind: FailureKind, detail: Record<string, unknown>): Attempt {
  return { kind: 'failed', failure: new ProviderFailure(kind, detail), isPassing: false, waitMs: 0 }
}

function passing(detail: Record<string, unknown>, waitMs = 0): Attempt {
  const seconds = waitMs === 0 ? undefined : Math.ceil(waitMs / SECOND_MS)
  const failure = new ProviderFailure('unavailable', detail, seconds)
  return { kind: 'failed', failure, isPassing: true, waitMs }
}

/** An account without money answers 429 as well, for months. */
function isPassing(status: number, { type, code }: { type?: unknown; code?: unknown }): boolean {
  if ([type, code].some((name) => /^(?:insufficient_quota|billing_)/.test(String(name))))
    return false
  return status === 408 || status === 409 || status === 429 || status >= 500
}

/** Type and code of an error are words; its message may repeat what was sent, the key even. */
function problemIn(text: string | undefined): { type?: string; code?: string } {
  const { error } = (parsed(text ?? '') ?? {}) as { error?: { type?: unknown; code?: unknown } }
  const word = (value: unknown) =>
    typeof value === 'string' && /^[a-z_]{1,64}$/.test(value) ? value : undefined
  const [type, code] = [word(error?.type), word(error?.code)]
  return { ...(type === undefined ? {} : { type }), ...(code === undefined ? {} : { code }) }
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function retryAfterMs(header: string | string[] | undefined, nowMs: number): number {
  if (typeof header !== 'string') return 0
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND_MS
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs - nowMs)
}

/** undefined: it broke off, or is larger than anybody needs. */
async function read({ body }: Dispatcher.ResponseData, bytesMax: number) {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > bytesMax) return undefined // leaving the loop ends the connection
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } catch {
    return undefined
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function codeOf(error: unknown): string {
  const { code, name = '' } = error as { code?: unknown; name?: string }
  if (error instanceof AggregateError) return codeOf(error.errors[0] ?? {})
  return typeof code === 'string' ? code : name
}
