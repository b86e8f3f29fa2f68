/**
 * What the control plane does, and how long each part of it takes: told to whoever counts, and of a
 * share of it spans go to a collector. Which requests have spans is chance and a rate; a `traceparent`
 * says which trace a request belongs to, and its sampled flag says nothing to us, or any stranger
 * could have a flood exported. A span names no path, query, address of mail or token: only what the
 * code itself has words for.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { systemClock, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  createSpanSender,
  nanoseconds,
  SPAN_ERROR,
  SPAN_KINDS,
  spanNumber,
  spanText,
} from '../../shared/span-sender.ts'
import { isTraceparent, spanIdOf, traceIdOf } from '../../shared/trace-context.ts'

type Attributes = Readonly<Record<string, string | number>>

/** What is timed: `name` is one of few, all else is in attributes. */
export interface Timed {
  readonly name: string
  readonly attributes: Attributes
  readonly ms: number
  readonly isFailed: boolean
}

export interface Span {
  set(key: string, value: string | number): void
}

interface SpanWish {
  readonly kind?: keyof typeof SPAN_KINDS
  readonly attributes?: Attributes
}

/** A request, whose end nobody awaits. */
interface OpenSpan extends Span {
  /** All that is done within is part of it, until its end. */
  run<T>(work: () => T): T
  end(isFailed: boolean): void
}

export interface TraceSettings {
  readonly endpoint: string
  /** The share of requests and jobs that have spans, from 0 to 1. */
  readonly sample: number
}

interface TracingWorld {
  readonly settings: TraceSettings | null
  readonly instanceId: string
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly random?: () => number
  readonly everyMs?: number
}

/** Of one that is sampled. */
interface SampledPlace {
  readonly trace: { isOver: boolean; spans: number }
  readonly traceId: string
  readonly spanId: string
  readonly span: Span
}

/** What goes on behind its end begins a trace of its own. */
type Place = SampledPlace | { readonly trace: { isOver: boolean }; readonly span: undefined }

export type Tracing = ReturnType<typeof createTracing>

const notSampled = (): Place => ({ trace: { isOver: false }, span: undefined })

export function createTracing(world: TracingWorld) {
  const { settings, clock, random = Math.random } = world
  const places = new AsyncLocalStorage<Place>()
  const listeners: ((timed: Timed) => void)[] = []
  const sender = settings && createSpanSender({ ...world, ...settings, program: 'control-plane' })

  function tell(timed: Timed) {
    for (const listener of listeners) listener(timed)
  }

  /** Chance alone says it, of what nothing is above. */
  function isSampled(): boolean {
    if (sender === null || settings === null) return false
    return random() < settings.sample && sender.mayBegin()
  }

  /** Undefined: it has no span. */
  function under(place: Place | undefined, traceparent = '') {
    if (sender === null) return undefined
    if (place !== undefined && !place.trace.isOver) {
      if (place.span === undefined) return undefined
      if (place.trace.spans >= LIMITS.traceSpansPerTraceMax) return undefined
      place.trace.spans++
      return { traceId: place.traceId, parentSpanId: place.spanId, trace: place.trace }
    }
    if (!isSampled()) return undefined
    const trace = { isOver: false, spans: 1 }
    if (isTraceparent(traceparent))
      return { traceId: traceIdOf(traceparent), parentSpanId: spanIdOf(traceparent), trace }
    return { traceId: randomBytes(16).toString('hex'), parentSpanId: undefined, trace }
  }

  function begin(
    name: string,
    { kind = 'internal', attributes = {} }: SpanWish,
    above: ReturnType<typeof under>,
  ) {
    const [startMs, begunMs] = [clock.nowMs(), performance.now()]
    const known = new Map(Object.entries(attributes))
    const span: Span = { set: (key, value) => void known.set(key, value) }
    const place = above && { ...above, spanId: randomBytes(8).toString('hex'), span }
    return {
      span,
      place,
      end(isFailed: boolean) {
        const ms = performance.now() - begunMs
        tell({ name, attributes: Object.fromEntries(known), ms, isFailed })
        if (place === undefined) return
        const { traceId, spanId, parentSpanId } = place
        sender?.add({
          ...{ traceId, spanId, ...(parentSpanId !== undefined && { parentSpanId }) },
          ...{ name: nameOf(name, known), kind: SPAN_KINDS[kind] },
          startTimeUnixNano: nanoseconds(startMs),
          endTimeUnixNano: nanoseconds(startMs + ms),
          attributes: Array.from(known, ([key, value]) =>
            typeof value === 'string' ? spanText(key, value) : spanNumber(key, value),
          ),
          status: isFailed ? SPAN_ERROR : {},
        })
      },
    }
  }

  return {
    /** Part of what is under way, or a beginning. */
    async span<T>(name: string, wish: SpanWish, work: (span: Span) => Promise<T>): Promise<T> {
      const at = places.getStore()
      const isBeginning = at === undefined || at.trace.isOver
      const above = under(at)
      const { span, place, end } = begin(name, wish, above)
      let isFailed = false
      const within = sender === null ? at : (place ?? (isBeginning ? notSampled() : at))
      try {
        return await (within === undefined || within === at
          ? work(span)
          : places.run(within, () => work(span)))
      } catch (error) {
        isFailed = true
        span.set('error.type', typeOf(error))
        throw error
      } finally {
        end(isFailed)
        if (within !== undefined && isBeginning) within.trace.isOver = true
      }
    },

    /** A beginning, whatever is under way here. */
    request(name: string, wish: SpanWish, traceparent = ''): OpenSpan {
      const above = under(undefined, traceparent)
      const { span, place, end } = begin(name, { kind: 'server', ...wish }, above)
      const within = sender === null ? undefined : (place ?? notSampled())
      return {
        set: span.set,
        run: (work) => (within === undefined ? work() : places.run(within, work)),
        end(isFailed) {
          end(isFailed)
          if (within !== undefined) within.trace.isOver = true
        },
      }
    },

    /** Of what is under way here. */
    note(key: string, value: string | number): void {
      places.getStore()?.span?.set(key, value)
    },

    /** Told of everything, whether it has a span or not. */
    onTimed: (listener: (timed: Timed) => void) => void listeners.push(listener),
    /** Spans that nobody has got. */
    dropped: () => sender?.dropped() ?? 0,
    /** For tests. */
    flush: () => sender?.flush(),
    close: async () => sender?.close(),
  }
}

/** Where nobody looks. */
export const noTracing = (): Tracing =>
  createTracing({
    settings: null,
    instanceId: '',
    clock: systemClock,
    log: { info: () => undefined, warn: () => undefined },
  })

/** As people look for it: the way of a request, which is none of the text of its address. */
function nameOf(name: string, known: ReadonlyMap<string, string | number>): string {
  const [method, route] = [known.get('http.request.method'), known.get('http.route')]
  if (method === undefined) return name
  return route === undefined ? String(method) : `${method} ${route}`
}

/** A word of the code's, never a message: those repeat what was asked. */
function typeOf(error: unknown): string {
  if (error instanceof Refusal) return error.code
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  const word = typeof code === 'string' ? code : String(name)
  return /^[A-Za-z_]{1,60}$/.test(word) ? word : 'error'
}
