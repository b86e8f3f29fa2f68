/** Where a Go program listens: what its address is made of is followed to what gives it a value. */
import { clue, type Clue } from '../assemble.ts'
import { uncommented } from '../source/blank.ts'
import {
  closeOf,
  hits,
  placeAt,
  stringAt,
  stringsBetween,
  type Hit,
  type Source,
} from '../source/source.ts'
import { givenPorts, isOfOthers, portOfText, type Given } from './go-defaults.ts'
import type { GoProgram } from './go-programs.ts'

const ADDRESS = /^(?:[\w.-]*|\[[^\]]*\]):(\d{2,5})$/
const ELSEWHERE = 'The code says so, where the environment says nothing.'

/** What it is followed to goes before the image, and that before what only reads like it. */
export function portOf(program: GoProgram): Clue<number> | null {
  const { serving, own, sources, module } = program
  const { source, index, addressAt, router } = serving
  const at = placeAt(source, index)
  const [, literal] = ADDRESS.exec((addressAt !== null && stringAt(source, addressAt)) || '') ?? []
  if (literal !== undefined) return clue(Number(literal), at, 'sure', 'The code says so.')
  if (addressAt === null && router?.name === 'gin' && serving.isMaking !== true)
    return clue(8080, at, 'likely', 'Gin listens there unless told otherwise.')
  if (addressAt === null && router?.name === 'pocketbase')
    return clue(8090, at, 'likely', 'PocketBase listens there unless told otherwise.')
  const followed = followedPort(program)
  if (followed !== null) return followed
  if (module.deployment.port !== null) return module.deployment.port
  // elsewhere a port is as well one that somebody is called on
  const settings = sources.filter(({ path }) =>
    /conf|setting|option|env|flag|(?:cmd|cli)\//i.test(path),
  )
  const found = [...new Set([source, ...own, ...settings])].flatMap((one) => settingIn(one) ?? [])
  // 80 and 443 are as well where others are sent on from
  return found.find(({ value }) => value > 1023) ?? found[0] ?? handedOver(own)
}

/** A name that an address is made of, and what stands in front of it: `Port` of `cfg.Server`. */
interface Name {
  readonly name: string
  readonly before: string
}

const OF_ADDRESSES = /port|addr|listen|bind|host|serve|http|endpoint/i
const DEPTH_MAX = 4
const NAMES_MAX = 40

function followedPort({ serving, sources }: GoProgram): Clue<number> | null {
  const { source, addressAt } = serving
  const starts = addressAt === null ? listened(source, sources) : [{ source, index: addressAt }]
  const given = givenPorts(sources)
  const seen = new Set<string>()
  let names: Name[] = []
  for (const start of starts) {
    const expression = expressionAt(start.source, start.index)
    const said = portIn(expression)
    if (said !== null) return clue(said, placeAt(start.source, start.index), 'likely', ELSEWHERE)
    names.push(...namesIn(expression.code))
  }
  for (let depth = 0; depth < DEPTH_MAX && names.length > 0; depth++) {
    for (const one of names) {
      const found = best(given, one)
      if (found !== null) return clue(found.port, found.at, 'likely', ELSEWHERE)
    }
    const further: Name[] = []
    for (const { name } of names.slice(0, NAMES_MAX)) {
      if (seen.has(name) || !OF_ADDRESSES.test(name)) continue
      seen.add(name)
      for (const { source: from, index } of valuesOf(sources, source, name)) {
        const expression = expressionAt(from, index)
        const said = portIn(expression)
        if (said !== null) return clue(said, placeAt(from, index), 'likely', ELSEWHERE)
        further.push(...namesIn(expression.code))
      }
    }
    names = further
  }
  return null
}

interface Start {
  readonly source: Source
  readonly index: number
}

/** `net.Listen("tcp", address)`, in the file that serves before all others. */
function listened(serving: Source, sources: readonly Source[]): Start[] {
  const calls =
    /(?<![\w.])(?:net\.Listen|\w+\.Listen|reuseport\.Listen|listenerutil\.\w+)\s*(?=\(\s*(?:ctx\s*,\s*)?["`])/
  const found = [serving, ...sources.filter((one) => one !== serving)].flatMap((source) =>
    isOfOthers(source.path)
      ? []
      : hits(source, calls).flatMap(({ end, index }) => {
          const inside = source.code.slice(end, closeOf(source, end))
          const [before] = /^\(\s*(?:ctx\s*,\s*)?["`][^"`]*["`]\s*,\s*/.exec(inside) ?? []
          const [protocol] = stringsBetween(source, end, end + 40)
          const isTcp = /^tcp/.test(protocol?.value ?? '')
          return before === undefined || !isTcp || isForAgents(source, index)
            ? []
            : [{ source, index: end + before.length }]
        }),
  )
  const own = found.filter(({ source }) => source === serving)
  return own.length > 0 ? own : found.length === 1 ? found : []
}

/** What else listens in a program says so in its own words: gRPC, agents, metrics. */
function isForAgents({ code }: Source, index: number): boolean {
  const start = code.lastIndexOf('\nfunc', index)
  const [head = ''] = /[^\n]*/.exec(code.slice(start + 1, index)) ?? []
  return isOfOthers(head) || /agent|raft|gossip|rpc/i.test(code.slice(index - 300, index + 300))
}

interface Expression {
  readonly code: string
  readonly strings: readonly string[]
}

/** To the comma, the line end or the bracket that ends it. */
function expressionAt(source: Source, start: number): Expression {
  let depth = 0
  let end = start
  for (; end < source.code.length && end < start + 400; end++) {
    const character = source.code.charAt(end)
    if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character) && --depth < 0) break
    else if (depth === 0 && (character === ',' || character === '\n' || character === ';')) break
  }
  return {
    code: source.code.slice(start, end),
    strings: stringsBetween(source, start, end).map(({ value }) => value),
  }
}

/** `":" + getenv("PORT", "8080")`, `cmp.Or(port, "8080")`, `8080` */
function portIn({ code, strings }: Expression): number | null {
  for (const value of strings) {
    const port = portOfText(value)
    if (port !== null) return port
  }
  const [, plain = ''] = /(?:^\s*|,\s*)(\d{2,5})\s*\)*$/.exec(code) ?? []
  return portOfText(plain)
}

const NOTHING =
  /^(?:fmt|net|http|strconv|strings|os|url|Sprintf|Sprint|Itoa|FormatInt|JoinHostPort|TrimSpace|Getenv|LookupEnv|string|int|uint16|int64|nil|true|false|String|err|ctx|context|Background|Join|Value|Get|if|return)$/

function namesIn(code: string): Name[] {
  return [...code.matchAll(/[A-Za-z_]\w*(?:\(\))?(?:\s*\.\s*[A-Za-z_]\w*(?:\(\))?)*/g)].flatMap(
    ([whole]) => {
      const parts = whole.split(/\s*\.\s*/).map((part) => part.replace('()', ''))
      const left = parts.filter((part) => !NOTHING.test(part))
      const name = left.at(-1)
      // a host is no port
      if (name === undefined || /host(?:name)?$|^ip$/i.test(name)) return []
      return [{ name, before: left.at(-2) ?? '' }]
    },
  )
}

/** What is assigned to a name, and what a function of that name gives back. */
function valuesOf(sources: readonly Source[], serving: Source, name: string): Start[] {
  const assigned = new RegExp(
    String.raw`\b${name}(?:\s*,\s*\w+)*(?:\s+string|\s+u?int\d*)?\s*:?=(?!=)\s*`,
  )
  const field = new RegExp(String.raw`^[ \t]*${name}\s*:\s*(?!=)`, 'm')
  const returns = new RegExp(
    String.raw`^func\s+(?:\([^)]*\)\s*)?${name}\s*\([^)]*\)[^{\n]*(?=\{)`,
    'm',
  )
  const naming = sources.filter((one) => one !== serving && one.code.includes(name))
  const ordered = [serving, ...naming]
  const ofHits = (source: Source, found: readonly Hit[]) =>
    found.slice(0, 4).map(({ end }) => ({ source, index: end }))
  const inside = (source: Source, { end }: Hit) =>
    hits({ code: source.code.slice(0, closeOf(source, end)) }, /\breturn\s+/)
      .filter((one) => one.index > end)
      .map((one) => ({ source, index: one.end }))
  const local = ofHits(serving, hits(serving, assigned))
  return [
    ...local,
    ...ordered.flatMap((source) =>
      isOfOthers(source.path)
        ? []
        : [
            ...(source === serving ? [] : ofHits(source, hits(source, assigned))),
            ...ofHits(source, hits(source, field)),
            ...hits(source, returns).flatMap((hit) => inside(source, hit)),
          ],
    ),
  ].slice(0, NAMES_MAX)
}

/** Of that name, and of what stands in front of it if several are; of none that disagree. */
function best(given: readonly Given[], { name, before }: Name): Given | null {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  if (!OF_ADDRESSES.test(name)) return null
  const same = given.filter(({ names }) => names.some((one) => plain(one) === plain(name)))
  const around = same.filter(({ around }) => before !== '' && plain(around).includes(plain(before)))
  const left = around.length > 0 ? around : same
  const [first] = left
  if (first === undefined || left.some(({ port }) => port !== first.port)) return null
  return first
}

/** `getenv("PORT", "8080")`, `flag.String("addr", ":4000", …)`, `port = "8080"`, `envDefault:"8080"` */
function settingIn({ path, text, code }: Source): Clue<number> | null {
  const lines = uncommented(text, 'go').split('\n')
  const codeLines = code.split('\n')
  for (const [index, line] of lines.entries()) {
    // not inside of a string that runs over lines
    const isCode = line.search(/\S/) === (codeLines[index] ?? '').search(/\S/)
    if (isOfOthers(line) || !isCode) continue
    const [, quoted] =
      /(?:port|addr|listen|bind)\w*\b.*?["`:=](?:[\w.]*:)?(\d{4,5})["`\\]/i.exec(line) ?? []
    const [, plain] =
      /(?:port|Port)\w*["`]?\s*(?:u?int\d*\s*)?(?:,|:?=|:)\s*(\d{2,5})\b/.exec(line) ?? []
    const [, address] = /"(?:[\w.]*|\[[^\]]*\]):(\d{2,5})"/.exec(line) ?? []
    const above = lines.slice(Math.max(0, index - 3), index).join('\n')
    const isNamed = /listen|addr|bind/i.test(above) && !isOfOthers(above)
    const port = quoted ?? plain ?? (isNamed ? address : undefined)
    if (port === undefined) continue
    const detail = 'The code names it; that it listens there was not seen.'
    return clue(Number(port), { path, line: index + 1 }, 'guess', detail)
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
