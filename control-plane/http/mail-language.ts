/** Of a mail to somebody else: what its sender would like to read is the best guess. */
import { textsFor } from '../realm/pages/texts/languages.ts'

export function mailLanguage({ headers }: Pick<Request, 'headers'>): string {
  return textsFor({ acceptLanguage: headers.get('accept-language') ?? undefined }).language
}
