/** From what has happened to a mail in the person's language. */
import type { Mail } from './mails.ts'
import { english, ENGLISH_CONSOLE, type MailText, type MailTexts } from './texts/english.ts'
import { german, GERMAN_CONSOLE } from './texts/german.ts'
import { withoutUnseen } from '../../shared/unseen.ts'

const LANGUAGES: Readonly<Record<string, MailTexts>> = { en: english, de: german }

/** Every text with the words of strangers in it made harmless; nobody can forget to. */
export function mailTextsFor(language: string): MailTexts {
  const texts = Object.hasOwn(LANGUAGES, language) ? (LANGUAGES[language] ?? english) : english
  const plain: Record<string, (facts: never) => MailText> = {}
  for (const [what, write] of Object.entries(texts))
    plain[what] = (facts: never) => (write as (facts: never) => MailText)(withPlainWords(facts))
  return plain as unknown as MailTexts
}

/** The console's own realm has no name that people know. */
export const consoleNameFor = (language: string): string =>
  language === 'de' ? GERMAN_CONSOLE : ENGLISH_CONSOLE

/** All other text is what somebody has typed: names of people and applications, addresses, browsers. */
const OUR_WORDS: ReadonlySet<string> = new Set(['link', 'stopLink', 'ip', 'at', 'what'])

function withPlainWords<Facts extends object>(facts: Facts): Facts {
  const plain = Object.entries(facts).map(([key, fact]: [string, unknown]) => [
    key,
    typeof fact === 'string' && !OUR_WORDS.has(key) ? plainWords(fact) : fact,
  ])
  return Object.fromEntries(plain) as Facts
}

/**
 * Mail programs make a link of `reset.example` and of `a@b.example`, wherever it stands: behind a dot
 * comes a space. And nothing turns the reading round or hides.
 */
export function plainWords(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
    .replace(/([.\u2024\u3002\uff0e\uff61])(?=[^\s.])/g, '$1 ')
    .replace(/\s*[@\uff20]\s*/g, ' @ ')
    .replace(/:\/\//g, ': / / ')
}

export function letter(to: string, { subject, lines }: MailText): Mail {
  // names are people's own words: a line break in one must not write a second line
  const clean = lines.map((line) => oneLine(line))
  return { to, subject: oneLine(subject), text: `${clean.join('\n\n')}\n` }
}

const oneLine = (text: string) => withoutUnseen(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '))
