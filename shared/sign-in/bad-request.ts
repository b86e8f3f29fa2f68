/** What a request gets that cannot be read, or not in this way: a page for people, JSON for programs. */
import { isNavigation, type NavigationFacts } from '../enforcement/navigation.ts'
import { htmlAnswer, jsonAnswer, type Answer } from './answer.ts'
import { languageOf, type Language } from './language.ts'
import { pageHtml, type Page } from './pages.ts'
import type { Texts } from './texts/english.ts'
import { TEXTS } from './texts/languages.ts'

interface Problem {
  readonly status: number
  readonly code: string
  readonly detail: string
}

/** Who gets an answer, as far as their request could be read. */
export interface Asker {
  readonly isPerson: boolean
  readonly acceptLanguage: string
}

export const PROGRAM: Asker = { isPerson: false, acceptLanguage: '' }

export const askerOf = (head: NavigationFacts, acceptLanguage: string): Asker => ({
  isPerson: isNavigation(head),
  acceptLanguage,
})

type Kind = keyof Texts['badRequests']

const KINDS: Readonly<Record<string, Kind>> = {
  bad_target: 'address',
  target_too_long: 'addressTooLong',
  head_too_large: 'tooManyCookies',
  too_many_headers: 'tooManyCookies',
  head_timeout: 'tooSlow',
  body_timeout: 'tooSlow',
  method_not_allowed: 'method',
  internal_error: 'internal',
}

/** One for each code and language, made when it is first asked for. */
const pages = new Map<string, string>()

function badRequestPage(code: string, language: Language): string {
  const key = `${language} ${code}`
  const known = pages.get(key)
  if (known !== undefined) return known
  const page = pageHtml({
    ...TEXTS[language].badRequests[kindOf(code)],
    language,
    code,
    ...wayOn(kindOf(code), language),
  })
  pages.set(key, page)
  return page
}

export function badRequest(
  { status, code, detail }: Problem,
  { isPerson, acceptLanguage }: Asker,
  headerLines: readonly string[] = [],
): Answer {
  return isPerson
    ? htmlAnswer(status, badRequestPage(code, languageOf(acceptLanguage)), headerLines)
    : jsonAnswer(status, { error: code, detail }, headerLines)
}

const kindOf = (code: string): Kind => KINDS[code] ?? 'other'

/** With the cookies that were too many no other page opens either. */
function wayOn(kind: Kind, language: Language): Pick<Page, 'action'> {
  const { homePage, tryAgain } = TEXTS[language]
  if (kind === 'tooManyCookies') return {}
  return kind === 'tooSlow' || kind === 'internal'
    ? { action: { href: '', label: tryAgain } } // this very address
    : { action: { href: '/', label: homePage } }
}

interface Asking {
  readonly head: NavigationFacts
  header(name: string): readonly string[]
}

export function methodRefused(asking: Asking, allow: string): Answer {
  const detail = `This URL only accepts ${allow}.`
  const asker = askerOf(asking.head, asking.header('accept-language').join())
  return badRequest({ status: 405, code: 'method_not_allowed', detail }, asker, [`Allow: ${allow}`])
}
