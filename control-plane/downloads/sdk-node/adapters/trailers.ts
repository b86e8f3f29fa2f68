/**
 * Lines behind a body arrive when the guard has long since answered. Whoever takes them for headers
 * would be told by them who the user is, or another path; so they are cleaned where they are read.
 */
import { isForeign } from '../../../../shared/enforcement/foreign-headers.ts'
import type { Incoming } from './messages.ts'

/** The lines as they came, where Node writes them onto the request itself. */
const LINES = Symbol('service-node trailers')
type Trailing = Incoming & { [LINES]?: string[] }

/** Only a body in chunks, or one of HTTP/2, can have any: other requests cost a look. */
export function guardTrailers(request: Trailing): void {
  const isOfHttp2 = request.httpVersionMajor === 2
  if (!isOfHttp2 && request.headers['transfer-encoding'] === undefined) return
  if (!isOfHttp2) request[LINES] = request.rawTrailers
  Object.defineProperties(request, GUARDED)
}

function keptOf(request: Trailing): string[] {
  const prototype = Object.getPrototypeOf(request) as object
  const lines = request[LINES] ?? (Reflect.get(prototype, 'rawTrailers', request) as string[])
  const kept: string[] = []
  for (let at = 0; at + 1 < lines.length; at += 2)
    if (!isForeign(lines[at]!)) kept.push(lines[at]!, lines[at + 1]!)
  return kept
}

/** Lines by their names, as Node gives them. */
export function distinctOf(lines: readonly string[]): Record<string, string[]> {
  const distinct = Object.create(null) as Record<string, string[]>
  for (let at = 0; at + 1 < lines.length; at += 2)
    (distinct[lines[at]!.toLowerCase()] ??= []).push(lines[at + 1]!)
  return distinct
}

const GUARDED: PropertyDescriptorMap & ThisType<Trailing> = {
  rawTrailers: {
    configurable: true,
    enumerable: true,
    get() {
      return keptOf(this)
    },
    set(lines: string[]) {
      this[LINES] = lines
    },
  },
  trailers: {
    configurable: true,
    get() {
      const entries = Object.entries(distinctOf(keptOf(this)))
      return Object.fromEntries(entries.map(([name, values]) => [name, values.join(', ')]))
    },
  },
  trailersDistinct: {
    configurable: true,
    get() {
      return distinctOf(keptOf(this))
    },
  },
}
