/**
 * What the pages say, in English: the table that every other language follows. Texts are kept
 * apart from how they look, so that a language is one more file in this folder.
 */
import type { AttemptReason } from '../../../policy/verdict.ts'
import { stepsEnglish } from './steps-english.ts'
import { account } from './account/english.ts'

/** A page that says what happened and what to do about it. */
export interface MessageText {
  readonly title: string
  readonly intro: string
  readonly steps: readonly string[]
}

const attempt: Record<AttemptReason, string> = {
  address_unreadable: 'You cannot sign in from this network.',
  network_denied: 'You cannot sign in from this network.',
  network_not_allowed: 'You cannot sign in from this network.',
  user_paused: 'There were too many wrong passwords. Wait a while, then try again.',
  address_blocked: 'There were too many wrong passwords from your network. Try again later.',
  password_needed: 'Enter your username and your password.',
  credentials_wrong: 'That username and password do not match. Check both and try again.',
  account_disabled: 'That username and password do not match. Check both and try again.',
  password_expired: 'Your password is too old. Choose a new one.',
  device_not_enrolled: 'You cannot sign in with this device.',
  second_factor_needed: 'Confirm that it is you.',
  code_wrong:
    'That code is not right. Wait for a new one, and check that the clock of the device that shows it is right.',
  enrolment_needed: 'This application needs a second proof that it is you. Set one up now.',
  too_many_sessions: 'You are signed in on too many devices.',
  too_many_sign_ins: 'Somebody has signed in with this account too often. Wait a little.',
}

/** One for each kind of `MESSAGES`, which knows their status. */
const messages = {
  unknown: {
    title: 'There is no sign-in here',
    intro: 'This address does not belong to an application that we know.',
    steps: ['Check the address, or start again from the application that sent you here.'],
  },
  not_found: {
    title: 'There is nothing at this address',
    intro: 'The link may be old or mistyped.',
    steps: ['Start again from the application.'],
  },
  request_wrong: {
    title: 'This sign-in link does not work',
    intro: 'The application sent a request that we cannot accept.',
    steps: [
      'Go back to the application and try once more.',
      'If it happens again, tell the people who run it and give them the details below.',
    ],
  },
  expired: {
    title: 'This sign-in has ended',
    intro: 'The page was open for too long, or it belongs to a sign-in that is already finished.',
    steps: ['Go back to the application and start again. Nothing you did was lost.'],
  },
  cookie_missing: {
    title: 'Your browser did not send our cookie',
    intro: 'We keep a small cookie while you sign in, so that nobody else can finish it for you.',
    steps: [
      'Allow cookies for this address, if your browser or an extension blocks them.',
      'Check the date and time of your device: a clock that is wrong makes cookies end too early.',
      'Use the browser in which you started: a copied link does not work in another one.',
      'Then start again from the application.',
    ],
  },
  cross_site: {
    title: 'This form was sent from another website',
    intro: 'For your safety we take what you enter only from our own page.',
    steps: ['Start again from the application, and enter your password there.'],
  },
  link_gone: {
    title: 'This link does not work any more',
    intro: 'A link from an e-mail works once and only for a while. This one is used up or too old.',
    steps: [
      'If you have asked more than once, use the link in the newest e-mail.',
      'Otherwise ask for a new link, and open it soon after it arrives.',
    ],
  },
  too_many: {
    title: 'Too many sign-ins from your network',
    intro: 'So many requests come from where you are that we have to slow them down.',
    steps: ['Wait a few seconds, then try again. Nothing you did was lost.'],
  },
  too_often: {
    title: 'You have signed in very often',
    intro: 'With this account somebody has signed in again and again in a short time.',
    steps: [
      'Wait a little, then start again. Where you are signed in, you stay signed in.',
      'If it was not you, change your password and tell the people who run the application.',
    ],
  },
  user_paused: {
    title: 'Sign-in is paused for a while',
    intro: 'There were too many wrong passwords for this username, perhaps from somebody else.',
    steps: [
      'Wait a while, then start again. Your password has not changed.',
      'If you do not remember it, the people who run the application can help.',
    ],
  },
  address_blocked: {
    title: 'Sign-in from your network is blocked for now',
    intro: 'Too many wrong passwords came from there, perhaps from somebody else.',
    steps: [
      'Wait a while, then try again; or use another network.',
      'The people who run the application can lift the block.',
    ],
  },
  network_denied: {
    title: 'You cannot sign in from this network',
    intro:
      'This application only allows sign-ins from certain networks, and yours is not among them.',
    steps: [
      'Connect to the network of your organisation, for example by its VPN, and start again.',
      'If you are there already, give the people who run the application the details below.',
    ],
  },
  device_refused: {
    title: 'You cannot sign in with this device',
    intro: 'This application only allows devices that it knows.',
    steps: [
      'Start again on a device that you have used here before.',
      'Ask the people who run the application how to add this one.',
    ],
  },
  sessions_full: {
    title: 'You are signed in on too many devices',
    intro: 'This application limits on how many devices you can be signed in at once.',
    steps: ['Sign out on a device that you do not need, then start again here.'],
  },
  suspended: {
    title: 'Sign-in is paused',
    intro: 'This application has been suspended, so nobody can sign in to it at the moment.',
    steps: ['Ask the people who run the application when it will be back.'],
  },
  licence_blocked: {
    title: 'New sign-ins are paused',
    intro: 'The licence of this application does not allow new sign-ins at the moment.',
    steps: [
      'If you are signed in on another device, that keeps working.',
      'Ask the people who run the application for help.',
    ],
  },
  directory_down: {
    title: 'We cannot check passwords right now',
    intro:
      'The list of users of this application does not answer. Your password is not the problem.',
    steps: [
      'Try again in a few minutes.',
      'If you are signed in on another device, that keeps working.',
    ],
  },
  account_unusable: {
    title: 'Your account cannot be used here yet',
    intro:
      'Your password is right, but what the list of users says about you does not fit: an e-mail address or a name is missing, or belongs to somebody else already.',
    steps: [
      'Ask the people who run the application to put this right. Trying again does not help.',
    ],
  },
  unavailable: {
    title: 'Please try again in a moment',
    intro: 'We cannot finish your sign-in right now.',
    steps: ['Wait a few seconds, then start again.'],
  },
  internal: {
    title: 'Something went wrong on our side',
    intro: 'Your sign-in could not be finished. You can simply try again.',
    steps: ['If it happens again, tell the people who run the application.'],
  },
} satisfies Record<string, MessageText>
export type MessageKind = keyof typeof messages

export const english = {
  account,
  /** The language tag that a browser names. */
  language: 'en',

  /** The title of a page on which something has to be put right. */
  problem: (title: string) => `Problem: ${title}`,
  secureAt: (host: string) => `Sign-in by ${host}`,

  signIn: 'Sign in',
  signInTo: (host: string) => `Sign in to ${host}`,
  username: 'Username or e-mail',
  password: 'Password',
  attempt,
  otherAccount: 'The application asked for another account than the one you used.',
  busy: 'Many people are signing in right now. Wait a few seconds and try again.',
  formTooLong: 'What you entered is longer than a username or password can be.',

  backToApplication: 'Back to the application',
  startAgain: 'Start again',
  details: 'Details for support',
  waitMinutes: (minutes: number) =>
    minutes === 1 ? 'You can try again in a minute.' : `You can try again in ${minutes} minutes.`,
  messages: messages as Record<MessageKind, MessageText>,

  steps: stepsEnglish,

  signOut: 'Sign out',
  signOutAsk: (name: string) => `Sign out of ${name}?`,
  signOutIntro: 'You will have to sign in again on this device.',
  staySignedIn: 'Stay signed in',
  signedOut: 'You are signed out',
  signedOutIntro: 'Your session has ended everywhere. You can close this page.',
  signInAgain: 'Sign in again',
}

export type Texts = typeof english
