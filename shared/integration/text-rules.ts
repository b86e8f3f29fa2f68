/** What text an edit may bring: what a person sees in the diff is what the machine reads. */
import { LIMITS } from '../limits.ts'

/**
 * Trojan Source (CVE-2021-42574) and its kin: marks that turn the order of reading, letters that
 * are not seen, line ends that only a compiler knows, and what moves a terminal's cursor.
 */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/u

/** A variation selector makes an emoji of a character; nowhere else is it wanted. */
const EMOJI = /\p{Emoji}\ufe0f/gu

const bytesOf = (text: string) => new TextEncoder().encode(text).length

/** Lines that were there before may be as they like: people write Arabic, and form feeds. */
export function textProblem(before: string | null, after: string): string | null {
  if (!after.isWellFormed()) return 'would hold text that is not valid Unicode'
  if (after.includes('\0')) return 'would hold a NUL character'
  if (bytesOf(after) > LIMITS.editedFileBytesMax)
    return `would be larger than ${LIMITS.editedFileBytesMax} bytes`
  const known = new Set(linesOf(before ?? ''))
  for (const [index, line] of linesOf(after).entries()) {
    const [unseen] = UNSEEN.exec(line.replaceAll('\t', '').replaceAll(EMOJI, '')) ?? []
    if (unseen !== undefined && !known.has(line))
      return `would hold a character that cannot be seen, ${codePoint(unseen)}, in line ${index + 1}`
  }
  return null
}

const linesOf = (text: string) => text.split(/\r?\n/)

/** For a page that shows code of a stranger: what is not seen is written out, as git and less do. */
export const visibleText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(new RegExp(UNSEEN.source, 'gu'), (character) =>
      character === '\t' || character === '\n' ? character : `<${codePoint(character)}>`,
    )

function codePoint(character: string): string {
  const digits = (character.codePointAt(0) ?? 0).toString(16).toUpperCase()
  return `U+${digits.padStart(4, '0')}`
}
