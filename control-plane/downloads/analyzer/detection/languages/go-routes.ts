/** What stands in front of a route in Go that is named in a function of its own. */
import type { Nesting } from '../reader/routes.ts'
import { closeOf, hits, stringAt, type Source } from '../source/source.ts'

type Nested = ReturnType<Nesting>
type Place = Parameters<Nesting>[1]

const FUNCTION = /^func\s+(?:\(\s*\w*\s*\*?(\w+)[^)]*\)\s*)?(\w+)\s*(?=\()/m
const GROUP =
  /^(?:\*?(?:gin\.RouterGroup|gin\.IRouter|gin\.IRoutes|echo\.Group|fiber\.Router|chi\.Router|chi\.Mux|mux\.Router|http\.ServeMux))$/

/** `api.Mount("/v1", router)`, `http.Handle("/v1/", http.StripPrefix("/v1", router))` */
export function onMounted(...[{ sources }, place]: Parameters<Nesting>): Nested {
  const { source, receiver } = place
  if (receiver === '') return null
  const isHanded = new RegExp(
    String.raw`,\s*(?:http\.StripPrefix\s*\([^,()]*,\s*)?${receiver}\s*\)`,
  )
  for (const other of [source, ...(sources.includes(source) ? [] : sources)])
    for (const { index, end, match } of hits(other, /(\w+)\s*\.\s*(?:Mount|Handle)\s*(?=\()/)) {
      if (match[1] === receiver || !isHanded.test(other.code.slice(end, closeOf(other, end))))
        continue
      const path = stringAt(other, end + 1)
      const above = { source: other, index, receiver: match[1] ?? '' }
      return { path: path ?? '', isKnown: path !== null, above }
    }
  return null
}

/** The function that a route stands in is called, mounted or handed over somewhere. */
export function inFunction(
  ...[{ sources }, { source, index, receiver }]: Parameters<Nesting>
): Nested {
  const head = hits(source, FUNCTION)
    .filter((one) => one.index < index)
    .at(-1)
  const [, type, name = 'main'] = head?.match ?? []
  if (head === undefined || name === 'main') return null
  const mounted = mountOf(sources, name)
  if (mounted !== null) return mounted
  // a group that was handed in
  const parameters = source.code.slice(head.end + 1, closeOf(source, head.end) - 1).split(',')
  const at = parameters.findIndex((one) => one.trim().split(/\s+/)[0] === receiver)
  if (at === -1 || !GROUP.test(typeAt(parameters, at))) return null
  const calls = callsOf(sources, name, type ?? null)
  const [call] = calls
  if (call === undefined || calls.length > 1) return { path: '', isKnown: false, above: null }
  const given = argumentsAt(call.source, call.end)[at] ?? ''
  const direct = /\.\s*(?:Group|Route|PathPrefix)\s*\(\s*/.exec(given)
  const above = {
    source: call.source,
    index: call.index,
    receiver: /^\w+/.exec(given.trim())?.[0] ?? '',
  }
  if (direct === null)
    return /^(?:\w+\.)*\w+$/.test(given.trim())
      ? {
          path: '',
          isKnown: true,
          above: { ...above, receiver: given.trim().split('.').at(-1) ?? '' },
        }
      : { path: '', isKnown: false, above: null }
  const start = call.source.code.indexOf(given, call.end) + direct.index + direct[0].length
  const path = stringAt(call.source, start)
  return { path: path ?? '', isKnown: path !== null, above }
}

/** `r.Mount("/api", routes())`, `r.Route("/api", h.routes)` */
function mountOf(sources: readonly Source[], name: string): Nested {
  const isCalled = new RegExp(String.raw`\b${name}\s*\(`)
  const isHanded = new RegExp(String.raw`,\s*(?:\w+\.)*${name}\s*\)$`)
  for (const other of sources.filter(({ code }) => code.includes(name)))
    for (const { index, end, match } of hits(other, /(\w+)\s*\.\s*(Mount|Route)\s*(?=\()/)) {
      const inside = other.code.slice(end, closeOf(other, end))
      if (!(match[2] === 'Mount' && isCalled.test(inside)) && !isHanded.test(inside)) continue
      const path = stringAt(other, end + 1)
      const above = { source: other, index, receiver: match[1] ?? '' }
      return { path: path ?? '', isKnown: path !== null, above }
    }
  return null
}

interface Call extends Pick<Place, 'source' | 'index'> {
  readonly end: number
}

/** Of a method those on what is known to be of its type, where others are called like it. */
function callsOf(sources: readonly Source[], name: string, type: string | null): Call[] {
  const calls = new RegExp(
    String.raw`(?<!\bfunc\s+(?:\([^)]*\)\s*)?)(?:\b(\w+)\s*\.\s*)?\b${name}\s*(?=\()`,
  )
  const found = sources
    .filter(({ code }) => code.includes(name))
    .flatMap((source) =>
      hits(source, calls).map(({ index, end, match }) => ({
        source,
        index,
        end,
        on: match[1] ?? '',
      })),
    )
  const declared = sources
    .filter(({ code }) => code.includes(name))
    .flatMap((source) => hits(source, FUNCTION).filter(({ match }) => match[2] === name))
  if (type === null || declared.length < 2) return found
  return found.filter(({ source, on }) => {
    const made = new RegExp(String.raw`\b${on}\s*(?::=|=|\s)\s*[^\n]*\b(?:New)?${type}\b`)
    return on !== '' && (on.toLowerCase() === type.toLowerCase() || made.test(source.code))
  })
}

function argumentsAt(source: Source, open: number): string[] {
  const inside = source.code.slice(open + 1, closeOf(source, open) - 1)
  const found: string[] = ['']
  let depth = 0
  for (const character of inside) {
    if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character)) depth--
    if (character === ',' && depth === 0) found.push('')
    else found[found.length - 1] += character
  }
  return found
}

/** `a, b chi.Router`: a type stands behind the last of its names. */
function typeAt(parameters: readonly string[], at: number): string {
  for (const one of parameters.slice(at)) {
    const [, type] = one.trim().split(/\s+/)
    if (type !== undefined) return type
  }
  return ''
}
