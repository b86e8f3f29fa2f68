/** Of the pages that mails lead to, or that lead to one. */
import {
  confirmEmailPage,
  emailChangedPage,
} from '../../../control-plane/realm/pages/account-pages.ts'
import { mailAskedPage, mailOpenedPage } from '../../../control-plane/realm/pages/mail-pages.ts'
import type { Page, Place } from '../../../control-plane/realm/pages/layout.ts'

type NamedPlace = Place & { readonly name: string }

const ACTION = 'https://id.example.com/auth/realms/acme/sign-in/abc'

export const MAIL_EXAMPLES: Readonly<Record<string, (place: NamedPlace) => Page>> = {
  confirmEmailPage: (place) =>
    confirmEmailPage({ place, action: ACTION, email: 'ada@example.com' }),
  emailChangedPage: (place) =>
    emailChangedPage(place, 'ada@example.com', 'https://app.example.com/'),
  mailAskedPage: (place) => mailAskedPage(asked(place)),
  'mailAskedPage, wrong code': (place) =>
    mailAskedPage({ ...asked(place), problem: place.texts.attempt.email_code_wrong }),
  'mailAskedPage, too early': (place) =>
    mailAskedPage({ ...asked(place), notice: place.texts.mail.waitSeconds(30) }),
  mailOpenedPage: (place) =>
    mailOpenedPage({ ...asked(place), ticket: 'x', applicationHost: 'app.example.com' }),
}

function asked(place: NamedPlace) {
  return { place, action: ACTION, login: 'ada@acme.example', otherWaysUrl: ACTION }
}
