/** Text for a terminal: in lines that fit, and with nothing in it that moves the cursor. */

const COLUMNS_MIN = 40
const COLUMNS_MAX = 100

/** What a terminal obeys, or an eye does not see: controls, directions, joiners, fillers, tags. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0000}-\u{e0fff}]/u
/** A pile of marks on one letter reaches into the lines above and below. */
const PILED_MARKS = /(\p{M}{4})\p{M}+/gu

/** A sentence, from wherever it comes, on one line. */
export function plainText(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return text
    .replaceAll(new RegExp(`(?:${UNSEEN.source}|\\s)+`, 'gu'), ' ')
    .replaceAll(PILED_MARKS, '$1')
    .trim()
}

/** Code and names, as they are: what is not seen is written out, as git and less do. */
export function visibleText(text: string): string {
  return text
    .replaceAll(new RegExp(UNSEEN.source, 'gu'), (sign) => (sign === '\t' ? sign : named(sign)))
    .replaceAll(/[^\S\t ]/gu, named)
    .replaceAll(PILED_MARKS, '$1')
}

/** JSON says the same with escapes; its own line ends are the only control characters in it. */
export function visibleJson(json: string): string {
  return json.replaceAll(new RegExp(UNSEEN.source, 'gu'), (sign) =>
    sign === '\n' ? sign : sign.replaceAll(/[^]/g, escaped),
  )
}

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

function named(sign: string): string {
  const hex = (sign.codePointAt(0) ?? 0).toString(16).toUpperCase()
  return `<U+${hex.padStart(4, '0')}>`
}

/** What our own colours are made of; nothing else with an escape in it gets as far as here. */
const COLOUR = /\u001b\[[\d;]*m/g
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u

/** How many columns it takes: two for ideographs and pictures, none for marks and colours. */
export function columnsOf(text: string): number {
  let columns = 0
  for (const sign of text.replaceAll(COLOUR, ''))
    columns += WIDE.test(sign) ? 2 : /\p{M}/u.test(sign) ? 0 : 1
  return columns
}

/** For a line that is drawn over: it may never reach the next one. */
export function cutToColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  let kept = ''
  let used = 1 // the sign at the end
  for (const sign of text) {
    used += columnsOf(sign)
    if (used > columns) break
    kept += sign
  }
  return `${kept}…`
}

export function wrap(text: string, columns: number): string {
  return wrapUnder('', '', text, columns)
}

/** The first line behind `first`, all others behind `rest`. A long word stays whole: it is copied. */
export function wrapUnder(first: string, rest: string, text: string, columns: number): string {
  const width = Math.min(Math.max(columns, COLUMNS_MIN), COLUMNS_MAX)
  const lines: string[] = []
  let line = first
  let used = columnsOf(first)
  let isBlank = true
  for (const word of text.split(' ')) {
    const wordColumns = columnsOf(word)
    if (!isBlank && used + 1 + wordColumns > width) {
      lines.push(line)
      line = rest
      used = columnsOf(rest)
      isBlank = true
    }
    line += isBlank ? word : ` ${word}`
    used += wordColumns + (isBlank ? 0 : 1)
    isBlank = false
  }
  return [...lines, line].join('\n')
}
