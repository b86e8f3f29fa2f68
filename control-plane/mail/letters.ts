/** From what has happened to a mail in the person's language. */
import type { Mail } from './mails.ts'
import { english, type MailText, type MailTexts } from './texts/english.ts'
import { german } from './texts/german.ts'

const LANGUAGES: Readonly<Record<string, MailTexts>> = { en: english, de: german }

export function mailTextsFor(language: string): MailTexts {
  return Object.hasOwn(LANGUAGES, language) ? (LANGUAGES[language] ?? english) : english
}

export function letter(to: string, { subject, lines }: MailText): Mail {
  // names are people's own words: a line break in one must not write a second line
  const clean = lines.map((line) => oneLine(line))
  return { to, subject: oneLine(subject), text: `${clean.join('\n\n')}\n` }
}

const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
