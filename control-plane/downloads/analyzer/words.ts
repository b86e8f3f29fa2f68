/** Text for a terminal: in lines that fit, and with nothing in it that moves the cursor. */

const COLUMNS_MIN = 40
const COLUMNS_MAX = 100

export function plainText(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
}

export function wrap(text: string, columns: number): string {
  return wrapUnder('', '', text, columns)
}

/** The first line behind `first`, all others behind `rest`. A long word stays whole: it is copied. */
export function wrapUnder(first: string, rest: string, text: string, columns: number): string {
  const width = Math.min(Math.max(columns, COLUMNS_MIN), COLUMNS_MAX)
  const lines: string[] = []
  let line = first
  let isBlank = true
  for (const word of text.split(' ')) {
    if (!isBlank && line.length + 1 + word.length > width) {
      lines.push(line)
      line = rest
      isBlank = true
    }
    line += isBlank ? word : ` ${word}`
    isBlank = false
  }
  return [...lines, line].join('\n')
}
