/**
 * Names that are written from right to left, in pages that are not: a number or a full stop behind
 * one would change its side and the sentence its sense. Each such run is isolated, here and nowhere
 * else, where a page is complete: no page can forget to, and what people typed stays as it is.
 */

/** Strong letters of the right-to-left scripts. */
const RTL =
  '\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}'
const HAS_RTL = new RegExp(`[${RTL}]`, 'u')
/** From the first to the last of them, with what stands between but letters of another script. */
const RUNS = new RegExp(`[${RTL}](?:[^<>&\\p{Script=Latin}${RTL}]*[${RTL}])*`, 'gu')
/** What is no text of the page: tags, and elements that hold nothing but their own text. */
const PIECES = /<(title|textarea|script|style|option|select)\b[^]*?<\/\1>|<[^>]*>|[^<]+/g

export function isolateRightToLeft(page: string): string {
  if (!HAS_RTL.test(page)) return page
  return page.replaceAll(PIECES, (piece) =>
    piece.startsWith('<') ? piece : piece.replaceAll(RUNS, '<bdi>$&</bdi>'),
  )
}
