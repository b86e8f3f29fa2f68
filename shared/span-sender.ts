/**
 * Spans on their way to a collector, as OTLP/HTTP in JSON (opentelemetry.io/docs/specs/otlp). Nothing
 * waits for the collector: what it does not take is dropped and counted, and where it says when it
 * will take more (`Retry-After`), so much is kept as there is room for.
 */
import type { Logger } from 'pino'
import { MINUTE_MS, SECOND_MS, type Clock } from './clock.ts'
import { LIMITS } from './limits.ts'
import { retryAfterMs } from './retry-after.ts'
import { VERSION } from './version.ts'

const SEND_EVERY_MS = 5 * SECOND_MS
const SEND_MS_MAX = 10 * SECOND_MS
const LAST_SEND_MS_MAX = SECOND_MS
const PAUSE_MS_MAX = 5 * MINUTE_MS
const TEXT_CHARACTERS_MAX = 1024
/** Answers that ask for the same once more. */
const LATER = [429, 502, 503, 504]

/** As OTLP writes them. */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const
export const SPAN_ERROR = { code: 2 } as const

export interface SpanSenderWorld {
  /** Of the collector, like `http://127.0.0.1:4318`. */
  readonly endpoint: string
  readonly program: 'gateway' | 'control-plane'
  /** Which of them it is. */
  readonly instanceId: string
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly fetch?: typeof fetch | undefined
  readonly everyMs?: number | undefined
}

export function createSpanSender(world: SpanSenderWorld) {
  const { endpoint, program, instanceId, clock, log, everyMs = SEND_EVERY_MS } = world
  const send = world.fetch ?? fetch
  const resource = {
    attributes: [
      spanText('service.name', `sign-in-protection-${program}`),
      spanText('service.version', VERSION),
      spanText('service.instance.id', instanceId),
    ],
  }
  const waiting: unknown[] = []
  let [dropped, second, inSecond] = [0, 0, 0]
  let trouble: '' | 'traces have to wait' | 'traces are lost' = ''
  let pausedUntilMs = 0
  let sending: Promise<void> | undefined
  const ending = new AbortController()

  async function sendAll(): Promise<void> {
    while (waiting.length > 0 && clock.steadyMs() >= pausedUntilMs) {
      const spans = waiting.splice(0, LIMITS.traceSpansPerRequestMax)
      const scopeSpans = [{ scope: { name: program, version: VERSION }, spans }]
      try {
        const answer = await send(`${endpoint}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
          redirect: 'error',
          signal: AbortSignal.any([AbortSignal.timeout(SEND_MS_MAX), ending.signal]),
        })
        await answer.body?.cancel()
        if (LATER.includes(answer.status)) pause(answer.headers.get('retry-after'), spans)
        if (!answer.ok) throw new Error(`status ${answer.status}`)
        if (trouble !== '') log.info({ endpoint }, 'the collector takes traces again')
        trouble = ''
      } catch (error) {
        dropped += spans.length
        const now = spans.length > 0 ? 'traces are lost' : 'traces have to wait'
        const isWorse = trouble === '' || (trouble !== now && now === 'traces are lost')
        if (isWorse) log.warn({ endpoint, error, dropped }, (trouble = now))
        return
      }
    }
  }

  /** It has said when; those that are kept are none of the lost ones. */
  function pause(retryAfter: string | null, spans: unknown[]) {
    const waitMs = retryAfterMs(retryAfter, clock.nowMs())
    if (waitMs === undefined) return
    pausedUntilMs = clock.steadyMs() + Math.min(waitMs, PAUSE_MS_MAX)
    const room = Math.max(0, LIMITS.traceSpansHeldMax - waiting.length)
    waiting.unshift(...spans.splice(0, room))
  }

  const round = () => (sending ??= sendAll().finally(() => (sending = undefined)))
  const timer = setInterval(() => void round(), everyMs)
  timer.unref()

  return {
    /** Whether there is room for one more, in this second and in all; else it counts as dropped. */
    mayBegin(): boolean {
      const now = Math.floor(clock.steadyMs() / SECOND_MS)
      if (now !== second) [second, inSecond] = [now, 0]
      const isWithin = ++inSecond <= LIMITS.traceSpansPerSecondMax
      if (isWithin && waiting.length < LIMITS.traceSpansHeldMax) return true
      dropped++
      return false
    },
    add(span: unknown): void {
      if (waiting.length >= LIMITS.traceSpansHeldMax) dropped++
      else waiting.push(span)
    },
    /** Spans that nobody has got. */
    dropped: () => dropped,
    /** Sends what there is; for tests. */
    flush: round,
    async close(): Promise<void> {
      clearInterval(timer)
      const impatience = setTimeout(() => ending.abort(), LAST_SEND_MS_MAX)
      await sending
      await round()
      clearTimeout(impatience)
      dropped += waiting.splice(0).length
    },
  }
}

export const spanText = (key: string, value: string) => ({
  key,
  value: { stringValue: value.slice(0, TEXT_CHARACTERS_MAX) },
})

export const spanNumber = (key: string, value: number) => ({
  key,
  value: { intValue: String(Math.round(value)) },
})

/** Whole microseconds are exact in a number, nanoseconds since 1970 are not. */
export const nanoseconds = (ms: number) => `${Math.round(ms * 1000)}000`
