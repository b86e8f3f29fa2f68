/** The language of a page: the first one that we speak in the order of the browser's wishes. */
export type Language = 'en' | 'de'

const WISHES_MAX = 32
const WISH = /^(de|en)(?:-[a-z0-9-]{1,32})?(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i

export function languageOf(acceptLanguage: string): Language {
  let best = { language: 'en' as Language, weight: 0 }
  for (const part of acceptLanguage.split(',', WISHES_MAX)) {
    const [, tag, weight = '1'] = WISH.exec(part.trim()) ?? []
    if (tag === undefined || Number(weight) <= best.weight) continue
    best = { language: tag.toLowerCase() as Language, weight: Number(weight) }
  }
  return best.language
}
