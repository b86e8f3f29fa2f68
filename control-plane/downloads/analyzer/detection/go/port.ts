/** On which port a Go program listens, if its code says so. */
import type { Clue } from '../assemble.ts'
import { placeAt, stringsBetween, type Source } from '../source/source.ts'
import { uncommented } from '../source/blank.ts'
import type { Serving } from './serving.ts'

const IN_ADDRESS = /^(?:[\w.-]*|\[[^\]]*\]):(\d{2,5})$/

export function portOf(
  serving: Serving,
  program: readonly Source[],
  sources: readonly Source[],
): Clue<number> | null {
  const { source, index, address, isLiteral, router } = serving
  const at = placeAt(source, index)
  const [, literal] = isLiteral ? (IN_ADDRESS.exec(address ?? '') ?? []) : []
  if (literal !== undefined)
    return { value: Number(literal), at, confidence: 'sure', detail: 'The code says so.' }
  if (address === null && router === 'gin')
    return {
      value: 8080,
      at,
      confidence: 'likely',
      detail: 'Gin listens there unless told otherwise.',
    }
  const detail = 'The code says so, where the environment says nothing.'
  // elsewhere a port is as well one that somebody is called on
  const settings = sources.filter(({ path }) => /conf|setting|option|env|flag|cmd\//i.test(path))
  for (const one of new Set([source, ...program, ...settings])) {
    const found = settingIn(one)
    if (found !== null) return { value: found.port, at: found.at, confidence: 'likely', detail }
  }
  return handedOver(program)
}

/** `getenv("PORT", "8080")`, `flag.String("addr", ":4000", …)`, `port = "8080"`, `envDefault:"8080"` */
function settingIn(source: Source) {
  const lines = uncommented(source.text, 'go').split('\n')
  const code = source.code.split('\n')
  for (const [index, line] of lines.entries()) {
    // not inside of a string that runs over lines
    const isCode = line.search(/\S/) === (code[index] ?? '').search(/\S/)
    const isOther =
      /db|database|postgres|mysql|redis|smtp|mail|grpc|metric|pprof|debug|kafka|amqp|nats/i.test(
        line,
      )
    if (isOther || !isCode) continue
    const [, quoted] =
      /(?:port|addr|listen|bind)\w*\b.*?["`:](?:[\w.]*:)?(\d{4,5})["`\\]/i.exec(line) ?? []
    const [, plain] = /(?:port|Port)\w*["`]?\s*(?:,|:?=|:)\s*(\d{4,5})\b/.exec(line) ?? []
    const port = quoted ?? plain
    if (port !== undefined)
      return { port: Number(port), at: { path: source.path, line: index + 1 } }
  }
  return null
}

/** `serve(":8001", handler)`: one address in the whole program, handed to something of its own. */
function handedOver(program: readonly Source[]): Clue<number> | null {
  const found = program.flatMap((source) =>
    stringsBetween(source, 0, source.code.length).flatMap(({ value, index }) => {
      const [, port] = /^(?:0\.0\.0\.0|\[::\])?:(\d{4,5})$/.exec(value) ?? []
      return port === undefined ? [] : [{ value: Number(port), at: placeAt(source, index) }]
    }),
  )
  const [first] = found
  if (first === undefined || found.length > 1) return null
  return { ...first, confidence: 'likely', detail: 'It is the only address in the program.' }
}
