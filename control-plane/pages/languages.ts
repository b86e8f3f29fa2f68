/** Which language a person is spoken to in: what the application asks for, then what the browser prefers. */
import { languageOf, spoken, WISHES_MAX, type Language } from '../../shared/sign-in/language.ts'

export interface LanguageWish {
  /** `ui_locales` of the request: tags in the order of preference, as OpenID Connect has it. */
  readonly uiLocales?: unknown
  readonly acceptLanguage?: string | undefined
}

export function languageFor({ uiLocales, acceptLanguage = '' }: LanguageWish): Language {
  const locales = typeof uiLocales === 'string' ? uiLocales.split(' ', WISHES_MAX) : []
  for (const locale of locales) {
    const language = /^[a-z0-9-]+$/i.test(locale) ? spoken(locale) : undefined
    if (language !== undefined) return language
  }
  return languageOf(acceptLanguage)
}
