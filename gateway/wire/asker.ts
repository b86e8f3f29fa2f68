/** Who gets an answer of the wire: told by what has come of a head, even of one that cannot be read. */
import { askerOf, PROGRAM, type Asker } from '../../shared/sign-in/bad-request.ts'
import type { RequestHead } from './exchange.ts'
import { trimmed } from './grammar.ts'
import { valuesOf } from './websocket-request.ts'

/** The blanks around a value are not its business: to look for them at each blank anew takes its square. */
const LINE = /^(accept|accept-language|sec-fetch-mode|x-requested-with):(.*)$/i
const METHOD = /^[A-Z]{1,20}(?= )/

/** Only the look of the answer hangs on it, so nothing in here is strict. */
export function askerOfText(head: string): Asker {
  const [first = '', ...lines] = head.split('\r\n')
  return fromLines(METHOD.exec(first)?.[0] ?? '', lines)
}

/** `fields`: name, value, name, value, as HTTP/2 delivers them. */
export function askerOfFields(fields: readonly string[]): Asker {
  const lines: string[] = []
  let method = ''
  for (let at = 0; at + 1 < fields.length; at += 2)
    if (fields[at] === ':method') method = fields[at + 1]!
    else lines.push(`${fields[at]!}: ${fields[at + 1]!}`)
  return fromLines(method, lines)
}

export const askerOfHead = (head: RequestHead): Asker =>
  askerOf(head, valuesOf(head.keptLines, 'accept-language').join())

function fromLines(method: string, lines: readonly string[]): Asker {
  const values = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = LINE.exec(line) ?? []
    if (name !== undefined && value !== undefined)
      values.set(name.toLowerCase(), trimmed(value, 0, value.length))
  }
  if (values.size === 0) return PROGRAM
  const value = (name: string) => values.get(name) ?? ''
  return askerOf(
    {
      method,
      secFetchMode: value('sec-fetch-mode'),
      accept: value('accept'),
      requestedWith: value('x-requested-with'),
      isUpgrade: false,
    },
    value('accept-language'),
  )
}
