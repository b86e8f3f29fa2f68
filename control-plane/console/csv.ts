/**
 * One line of a CSV file (RFC 4180). What begins like a formula gets an apostrophe in front, or a
 * spreadsheet would carry out what a stranger has typed as a name.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

const FORMULA = /^[\s]*[=+\-@\t\r]/

function cellOf(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
