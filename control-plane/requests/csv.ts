/** Comma-separated values as RFC 4180 has them, read strictly and written so that no sheet runs them. */

export interface CsvLine {
  /** Where it begins in the file, from 1. */
  readonly line: number
  readonly cells: readonly string[]
}

type CsvResult =
  | { readonly kind: 'read'; readonly lines: readonly CsvLine[] }
  | { readonly kind: 'wrong'; readonly line: number; readonly problem: string }

/** Spreadsheets of some countries write semicolons; the first line tells. */
const separatorIn = (text: string) => {
  const [head = ''] = text.split(/\r?\n/, 1)
  return head.includes(';') && !head.includes(',') ? ';' : ','
}

/** Empty lines are none. A quote that is not closed, or stands within bare text, is refused. */
export function readCsv(given: string): CsvResult {
  const text = given.replace(/^\ufeff/, '')
  const separator = separatorIn(text)
  const lines: CsvLine[] = []
  let cells: string[] = []
  let [line, beganAt, at] = [1, 1, 0]
  const endLine = () => {
    if (cells.length > 1 || cells[0] !== '') lines.push({ line: beganAt, cells })
    cells = []
    beginsAnew()
  }
  const beginsAnew = () => {
    line += 1
    beganAt = line
  }
  for (;;) {
    let cell = ''
    if (text[at] === '"') {
      const end = closingQuote(text, at + 1)
      if (end < 0) return { kind: 'wrong', line: beganAt, problem: 'A quoted value is not closed.' }
      cell = text.slice(at + 1, end).replaceAll('""', '"')
      line += cell.split('\n').length - 1
      at = end + 1
    } else {
      const from = at
      while (at < text.length && text[at] !== separator && !isLineEnd(text, at)) {
        if (text[at] === '"')
          return {
            kind: 'wrong',
            line,
            problem: 'A quote inside a value: put the whole value in quotes.',
          }
        at += 1
      }
      cell = text.slice(from, at)
    }
    cells.push(cell)
    if (at >= text.length) break
    if (text[at] === separator) at += 1
    else if (isLineEnd(text, at)) {
      at += text[at] === '\r' ? 2 : 1
      endLine()
      if (at >= text.length) return { kind: 'read', lines }
    } else return { kind: 'wrong', line, problem: 'Text after a closing quote.' }
  }
  endLine()
  return { kind: 'read', lines }
}

const isLineEnd = (text: string, at: number) =>
  text[at] === '\n' || (text[at] === '\r' && text[at + 1] === '\n')

/** Behind pairs of quotes, which stand for one. */
function closingQuote(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
  return end
}

/**
 * With one of these a cell is a formula; behind an apostrophe it is text. A spreadsheet of a country
 * that separates by semicolons begins a cell behind each of them, whatever is quoted around it, and
 * takes the wide signs of East Asian keyboards for the others.
 */
// so few spaces before a sign, that no text of spaces is looked through from each of them
const BEGINS_CELL = String.raw`(^|[;\t\r\n])`
const SIGN = String.raw`[=+\-@\uff1d\uff0b\uff0d\uff20]`
const FORMULA = new RegExp(String.raw`${BEGINS_CELL}(?=[\s"]{0,9}${SIGN})`, 'g')
const GUARDED = new RegExp(String.raw`${BEGINS_CELL}'(?=[\s"']{0,9}${SIGN})`, 'g')

export const withoutGuard = (cell: string): string => cell.replaceAll(GUARDED, '$1')

export function csvLine(cells: readonly string[]): string {
  const written = cells.map((cell) => {
    const text = cell.replaceAll(FORMULA, "$1'")
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${written.join(',')}\r\n`
}
