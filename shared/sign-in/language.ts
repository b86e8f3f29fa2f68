/** Which language a page is written in: the one that the browser prefers among those that we speak. */

/** The first one is spoken where nobody asks for another. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

/** What no browser needs; the rest of a longer list is not read. */
export const WISHES_MAX = 32

export function languageOf(acceptLanguage: string): Language {
  return preferred(parseAcceptLanguage(acceptLanguage)) ?? LANGUAGES[0]
}

interface Wish {
  /** `de-AT` or `*`. */
  readonly range: string
  readonly weight: number
}

/** RFC 9110, section 12.5.4. Whatever is not of this form, or longer than a language is, is left out. */
const WISH =
  /^([a-z]{1,8}(?:-[a-z0-9]{1,8}){0,8}|\*)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i

function parseAcceptLanguage(header: string): Wish[] {
  return header.split(',', WISHES_MAX).flatMap((part) => {
    const [, range, weight = '1'] = WISH.exec(part.trim()) ?? []
    return range === undefined ? [] : [{ range, weight: Number(weight) }]
  })
}

/** The heaviest wish that we can meet; among equals the one that was named first. */
function preferred(wishes: readonly Wish[]): Language | undefined {
  const unwanted = new Set(
    wishes.filter(({ weight }) => weight === 0).map(({ range }) => spoken(range)),
  )
  const wanted = wishes.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)
  const named = new Set(wanted.map(({ range }) => spoken(range)))
  for (const { range } of wanted) {
    const language =
      range === '*' ? LANGUAGES.find((one) => !unwanted.has(one) && !named.has(one)) : spoken(range)
    if (language !== undefined) return language
  }
  return undefined
}

/** `de-AT` is met by `de` (RFC 4647, section 3.4: cut from the end until something fits). */
export function spoken(tag: string): Language | undefined {
  for (
    let rest = tag.toLowerCase();
    rest !== '';
    rest = rest.slice(0, Math.max(0, rest.lastIndexOf('-')))
  ) {
    const language = LANGUAGES.find((one) => one === rest)
    if (language !== undefined) return language
  }
  return undefined
}
