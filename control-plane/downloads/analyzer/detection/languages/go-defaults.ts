/** What a Go program gives a port where nobody sets one: tags, flags, settings, constants. */
import type { Place } from '../application.ts'
import { isCustomaryElsewhere } from '../node/foreign-ports.ts'
import { closeOf, hits, placeAt, stringAt, stringsBetween, type Source } from '../source/source.ts'

/** By which names it is known, and what it belongs to. */
export interface Given {
  readonly names: readonly string[]
  readonly around: string
  readonly port: number
  readonly at: Place
}

const OTHERS =
  /db|database|postgres|mysql|redis|smtp|mail|grpc|metric|pprof|debug|kafka|amqp|nats|prometheus|profil|ldap|ssh|ftp|dns/i

export const isOfOthers = (words: string) => OTHERS.test(words)

const PORT = /^(?:[\w.-]*:|\[[^\]]*\]:|https?:\/\/[\w.]+:)?(\d{2,5})\/?$/

/** Without a number that may be one there is none. */
const A_PORT = /:\d{2,5}["`\\]|(?<![\w.])(?:80|[1-9]\d{3,4})(?![\w.])/

/** Of all that is given a port, what is not somebody else's. */
export function givenPorts(sources: readonly Source[]): Given[] {
  return sources
    .filter(({ path, text }) => !isOfOthers(path) && A_PORT.test(text))
    .flatMap((source) => [
      ...inTags(source),
      ...inCalls(source),
      ...inFields(source),
      ...assigned(source),
    ])
    .filter(({ names, around, at }) => ![...names, around, at.path].some(isOfOthers))
}

/** A number that is long enough to be none of anything else, and nobody else's by custom. */
export function portOfText(text: string): number | null {
  const port = Number(PORT.exec(text)?.[1] ?? 0)
  return (port < 1000 && port !== 80) || port > 65_535 || isCustomaryElsewhere(port) ? null : port
}

/** ``Addr string `env:"LISTEN_ADDR" envDefault:":8080"` `` of whichever library. */
function inTags(source: Source): Given[] {
  return hits(source, /^[ \t]*(\w+)[ \t]+[\w.*[\]]+[ \t]+(?=`)/m).flatMap(
    ({ index, end, match }) => {
      const tag = stringAt(source, end) ?? ''
      const [, value = ''] =
        /(?:default|envDefault|env-default|def|value)(?::\\?"|=)([^",\\]*)/i.exec(tag) ?? []
      const port = portOfText(value)
      if (port === null) return []
      const named = [...tag.matchAll(/\w+:"([\w.-]+)/g)].map(([, name = '']) => name)
      return [
        {
          names: [match[1] ?? '', ...named],
          around: typeAround(source, index),
          port,
          at: placeAt(source, index),
        },
      ]
    },
  )
}

/** The type that a field stands in, and the field that a nested type is of. */
function typeAround(source: Source, index: number): string {
  return hits(source, /\b(\w+)\s+(?:\[\])?\*?struct\s*(?=\{)/)
    .filter((hit) => hit.index < index && closeOf(source, hit.end) > index)
    .map(({ match }) => match[1] ?? '')
    .join('.')
}

const CALLS =
  /\b(?:String|Int|Uint|Uint16|Int64|TCP|Var|StringVar|IntVar|UintVar|Uint16Var|StringP|IntP|UintP|Uint16P|StringVarP|IntVarP|UintVarP|Uint16VarP|SetDefault|Flag|Or|[Gg]et\w*|[Ll]ookup\w*|[Dd]efault\w*|[Ee]nv\w*)\s*(?=\(\s*(?:&[\w.]+\s*,\s*)?["`\w])/

/** `port` of `port := flag.Int(…)` */
function variableBefore({ code }: Source, index: number): string {
  const line = code.slice(Math.max(0, code.lastIndexOf('\n', index), index - 120), index)
  return /(\w+)\s*:?=\s*\*?(?:[\w.]|\(\))*$/.exec(line)?.[1] ?? ''
}

/**
 * `flag.IntVar(&port, "port", 8080, …)`, `viper.SetDefault("server.port", 8080)`,
 * `app.Flag("listen", …).Default(":9090")`, `env.Get("PORT", "8080")`
 */
function inCalls(source: Source): Given[] {
  return hits(source, CALLS).flatMap(({ index, end }) => {
    const close = closeOf(source, end)
    if (close - end > 600) return []
    const inside = source.code.slice(end, close)
    const [, pointer = ''] = /^\(\s*&([\w.]+)/.exec(inside) ?? []
    const strings = stringsBetween(source, end, close)
    const [key] = strings
    const name = key?.value ?? /^\(\s*([\w.]+)\s*,/.exec(inside)?.[1] ?? ''
    if (!/port|addr|listen|bind|host|^l$|^p$|http/i.test(`${name} ${pointer}`)) return []
    const [, plain] = /,\s*(\d{2,5})\s*[,)]/.exec(inside) ?? []
    const behind = /^\s*(?:\.\w+\([^()]*\)\s*)*?\.Default\(\s*/.exec(
      source.code.slice(close, close + 300),
    )
    const given = behind === null ? undefined : stringAt(source, close + behind[0].length)
    const texts = [
      given ?? '',
      ...strings.slice(key?.value === name ? 1 : 0).map(({ value }) => value),
    ]
    const port =
      (plain === undefined ? texts : [plain]).map(portOfText).find((one) => one !== null) ?? null
    if (port === null) return []
    const parts = name.split('.')
    const names = [
      parts.at(-1) ?? '',
      name,
      variableBefore(source, index),
      pointer.split('.').at(-1) ?? '',
    ]
    return [
      {
        names: names.filter(Boolean),
        around: `${parts.slice(0, -1).join('.')}.${pointer}`,
        port,
        at: placeAt(source, index),
      },
    ]
  })
}

/** `&cli.IntFlag{Name: "port", Value: 8080}`, `Config{Port: 8080}`, `"port": 8080` */
function inFields(source: Source): Given[] {
  const flags = hits(source, /\bName\s*:\s*(?=["\w])/).flatMap(({ index, end }) => {
    const open = source.code.lastIndexOf('{', index)
    const close = closeOf(source, open)
    const value = /\bValue\s*:\s*/.exec(source.code.slice(open, close))
    const name = stringAt(source, end) ?? /^[\w.]+/.exec(source.code.slice(end))?.[0] ?? ''
    if (value === null || close - open > 1500) return []
    const at = open + value.index + value[0].length
    const [, plain] = /^(\d{2,5})\b/.exec(source.code.slice(at)) ?? []
    const port = portOfText(plain ?? stringAt(source, at) ?? '')
    const [, target = ''] =
      /\bDestination\s*:\s*&([\w.]+)/.exec(source.code.slice(open, close)) ?? []
    const [, variable = ''] =
      /(\w+)\s*:?=\s*&?[\w.]*$/.exec(source.code.slice(Math.max(0, open - 80), open)) ?? []
    const names = [name, target.split('.').at(-1) ?? '', variable].filter(Boolean)
    return port === null || !/port|addr|listen|bind/i.test(names.join(' '))
      ? []
      : [{ names, around: target, port, at: placeAt(source, index) }]
  })
  const fields = hits(
    source,
    /^[ \t]*["`]?(\w*(?:[Pp]ort|PORT|[Aa]ddr(?:ess)?|ADDR|[Ll]isten\w*|[Bb]ind))(?:["`])?\s*:\s*/m,
  ).flatMap(({ index, end, match }) => {
    const [, plain] = /^(\d{2,5})\s*,?\s*(?:\n|\}|$)/.exec(source.code.slice(end, end + 40)) ?? []
    const port = portOfText(plain ?? stringAt(source, end) ?? '')
    const open = source.code.lastIndexOf('{', index)
    const [, around = ''] =
      /([\w.]+)\s*:?\s*&?[\w.]*$/.exec(source.code.slice(Math.max(0, open - 80), open)) ?? []
    return port === null
      ? []
      : [{ names: [match[1] ?? ''], around, port, at: placeAt(source, index) }]
  })
  return [...flags, ...fields]
}

/** `const defaultPort = 8080`, `cfg.Server.Port = 8080`, `port := "8080"` */
function assigned(source: Source): Given[] {
  const named =
    /(?<![\w.])((?:\w+\.)*\w*(?:[Pp]ort|PORT|[Aa]ddr(?:ess)?|ADDR(?:ESS)?|[Ll]isten\w*|[Bb]ind))(?:\s+(?:string|u?int\d*))?\s*:?=(?!=)\s*/
  return hits(source, named).flatMap(({ index, end, match }) => {
    const [, plain] = /^(\d{2,5})\s*(?:\n|$|\)|\/\/)/.exec(source.code.slice(end, end + 40)) ?? []
    const port = portOfText(plain ?? stringAt(source, end) ?? '')
    const parts = (match[1] ?? '').split('.')
    return port === null
      ? []
      : [
          {
            names: [parts.at(-1) ?? ''],
            around: parts.slice(0, -1).join('.'),
            port,
            at: placeAt(source, index),
          },
        ]
  })
}
