/** One word of a line for a shell, whatever is in it. */
export function quoted(text: string): string {
  return /^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
