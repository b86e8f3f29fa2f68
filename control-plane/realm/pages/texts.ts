/** What the pages say. Kept apart from how they look, so that a language is one more table. */
import type { AttemptReason } from '../../policy/verdict.ts'

export const TEXTS = {
  secureAt: (host: string) => `Sign-in by ${host}`,

  signIn: 'Sign in',
  signInTo: (host: string) => `Sign in to ${host}`,
  username: 'Username or e-mail',
  password: 'Password',
  attempt: {
    password_needed: 'Enter your username and your password.',
    credentials_wrong: 'That username and password do not match. Check both and try again.',
    account_disabled: 'That username and password do not match. Check both and try again.',
  } satisfies Record<AttemptReason, string>,
  otherAccount: 'The application asked for another account than the one you used.',
  busy: 'Many people are signing in right now. Wait a few seconds and try again.',
  formTooLong: 'What you entered is longer than a username or password can be.',

  backToApplication: 'Back to the application',
  startAgain: 'Start again',
  details: 'Details for support',

  expired: {
    title: 'This sign-in has ended',
    intro: 'The page was open for too long, or it belongs to a sign-in that is already finished.',
    steps: ['Go back to the application and start again. Nothing you did was lost.'],
  },
  cookieMissing: {
    title: 'Your browser did not send our cookie',
    intro: 'We keep a small cookie while you sign in, so that nobody else can finish it for you.',
    steps: [
      'Allow cookies for this address, if your browser or an extension blocks them.',
      'Use the browser in which you started: a copied link does not work in another one.',
      'Then start again from the application.',
    ],
  },
  crossSite: {
    title: 'This form was sent from another website',
    intro: 'For your safety we take your password only from our own page.',
    steps: ['Start again from the application, and enter your password there.'],
  },
  tooMany: {
    title: 'Too many sign-ins from your network',
    intro: 'So many requests come from where you are that we have to slow them down.',
    steps: ['Wait a few seconds, then try again. Nothing you did was lost.'],
  },
  suspended: {
    title: 'Sign-in is paused',
    intro: 'This application has been suspended, so nobody can sign in to it at the moment.',
    steps: ['Ask the people who run the application when it will be back.'],
  },
  licenceBlocked: {
    title: 'New sign-ins are paused',
    intro: 'The licence of this application does not allow new sign-ins at the moment.',
    steps: [
      'If you are signed in on another device, that keeps working.',
      'Ask the people who run the application for help.',
    ],
  },
  unknown: {
    title: 'There is no sign-in here',
    intro: 'This address does not belong to an application that we know.',
    steps: ['Check the address, or start again from the application that sent you here.'],
  },
  notFound: {
    title: 'There is nothing at this address',
    intro: 'The link may be old or mistyped.',
    steps: ['Start again from the application.'],
  },
  requestWrong: {
    title: 'This sign-in link does not work',
    intro: 'The application sent a request that we cannot accept.',
    steps: [
      'Go back to the application and try once more.',
      'If it happens again, tell the people who run it and give them the details below.',
    ],
  },
  internal: {
    title: 'Something went wrong on our side',
    intro: 'Your sign-in could not be finished. You can simply try again.',
    steps: ['If it happens again, tell the people who run the application.'],
  },
  unavailable: {
    title: 'Please try again in a moment',
    intro: 'We cannot finish your sign-in right now.',
    steps: ['Wait a few seconds, then start again.'],
  },

  signOut: 'Sign out',
  signOutAsk: (name: string) => `Sign out of ${name}?`,
  signOutIntro: 'You will have to sign in again on this device.',
  staySignedIn: 'Stay signed in',
  signedOut: 'You are signed out',
  signedOutIntro: 'Your session has ended everywhere. You can close this page.',
  signInAgain: 'Sign in again',
} as const

/** A page that says what happened and what to do about it. */
export interface MessageText {
  readonly title: string
  readonly intro: string
  readonly steps: readonly string[]
}
