import type { Language } from '../../../../shared/sign-in/language.ts'
import { languageFor, type LanguageWish } from '../../../pages/languages.ts'
import { english, type Texts } from './english.ts'
import { german } from './german.ts'

const TEXTS: Readonly<Record<Language, Texts>> = { en: english, de: german }

export const textsFor = (wish: LanguageWish): Texts => TEXTS[languageFor(wish)]
