/** Of a mail to somebody else: what its sender would like to read is the best guess. */
import { languageFor } from '../pages/languages.ts'

export function mailLanguage({ headers }: Pick<Request, 'headers'>): string {
  return languageFor({ acceptLanguage: headers.get('accept-language') ?? undefined })
}
