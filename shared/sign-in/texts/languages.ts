import { languageOf, LANGUAGES, type Language } from '../language.ts'
import { english, type Texts } from './english.ts'
import { german } from './german.ts'

export const TEXTS: Readonly<Record<Language, Texts>> = { en: english, de: german }

/** Whoever asks, by the lines of their request. */
export interface Speaker {
  header(name: string): readonly string[]
}

export const spokenBy = (asker: Speaker): Language =>
  languageOf(asker.header('accept-language').join())

/** What depends on the language alone is made once, and looked up per request. */
export function inEveryLanguage<Made>(
  make: (texts: Texts, language: Language) => Made,
): Readonly<Record<Language, Made>> {
  const made = LANGUAGES.map((language) => [language, make(TEXTS[language], language)])
  return Object.fromEntries(made) as Record<Language, Made>
}
