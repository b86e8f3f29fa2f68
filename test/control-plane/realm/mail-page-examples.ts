/** Of the pages that mails lead to, or that lead to one. */
import {
  confirmEmailPage,
  emailChangedPage,
} from '../../../control-plane/realm/pages/account-pages.ts'
import { mailAskedPage, mailOpenedPage } from '../../../control-plane/realm/pages/mail-pages.ts'
import {
  signUpDetailsPage,
  signUpPage,
  signUpWaitingPage,
} from '../../../control-plane/realm/pages/sign-up-pages.ts'
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
  signUpPage: (place) => signUpPage(signingUp(place)),
  'signUpPage, refused': (place) =>
    signUpPage({ ...signingUp(place), problem: place.texts.signUp.address.refused }),
  'mailAskedPage, sign-up': (place) =>
    mailAskedPage({ ...asked(place), words: place.texts.signUp.sent }),
  'mailOpenedPage, sign-up': (place) =>
    mailOpenedPage({
      ...{ ...asked(place), ticket: 'x', applicationHost: 'app.example.com' },
      words: place.texts.signUp.opened,
    }),
  signUpDetailsPage: (place) => signUpDetailsPage(details(place)),
  'signUpDetailsPage, no password': (place) =>
    signUpDetailsPage({ ...details(place), hasPassword: false, needsApproval: false }),
  'signUpDetailsPage, passwords differ': (place) =>
    signUpDetailsPage({
      ...{ ...details(place), problem: place.texts.account.passwordsDiffer },
      wrong: ['password', 'repeated'],
    }),
  signUpWaitingPage: (place) =>
    signUpWaitingPage(place, 'ada@acme.example', 'https://app.example.com/'),
  mailOpenedPage: (place) =>
    mailOpenedPage({ ...asked(place), ticket: 'x', applicationHost: 'app.example.com' }),
}

function signingUp(place: NamedPlace) {
  return { place, action: ACTION, email: 'ada@acme.example', signInUrl: ACTION }
}

function details(place: NamedPlace) {
  return {
    ...{ place, action: ACTION, email: 'ada@acme.example', name: 'Ada', charactersMin: 8 },
    ...{ hasPassword: true, needsApproval: true },
  }
}

function asked(place: NamedPlace) {
  return { place, action: ACTION, login: 'ada@acme.example', otherWaysUrl: ACTION }
}
