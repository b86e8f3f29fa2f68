/**
 * What the pages say, in English: the table that every other language follows. Texts are kept
 * apart from how they look, so that a language is one more file in this folder.
 */
import type { AttemptReason } from '../../../policy/verdict.ts'
import { deviceEnglish } from './device-english.ts'
import { connectionsEnglish } from './connections-english.ts'
import { mailEnglish } from './mail-english.ts'
import { signUpEnglish } from './sign-up-english.ts'
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
  user_paused: 'Too many failed attempts. Wait a while, then try again.',
  address_blocked: 'Too many failed attempts from your network. Try again later.',
  password_needed: 'Enter your username and password.',
  credentials_wrong: 'Wrong username or password. Check both and try again.',
  connection_required: 'Wrong username or password, or this account can’t sign in with a password.',
  email_code_wrong: 'That code is not valid. Check the latest email and try again.',
  account_disabled: 'Wrong username or password. Check both and try again.',
  password_expired: 'Your password has expired. Choose a new one.',
  device_proof_needed: 'This device has not been checked yet. Check it, then continue.',
  device_warning: 'This device needs your attention.',
  device_not_enrolled: 'You cannot sign in with this device.',
  device_not_compliant: 'This device does not meet the requirements.',
  second_factor_needed: "Confirm it's you.",
  code_wrong:
    'That code is not valid. Wait for the next one, and check that the clock on that device is correct.',
  enrolment_needed: 'This application requires a second factor. Set one up now.',
  too_many_sessions: 'You are signed in on too many devices.',
  too_many_sign_ins: 'Too many sign-ins with this account. Wait a few minutes, then try again.',
}

/** One for each kind of `MESSAGES`, which knows their status. */
const messages = {
  unknown: {
    title: 'No application found',
    intro: 'This address does not belong to any application we know.',
    steps: ['Check the address, or start again from the application that sent you here.'],
  },
  not_found: {
    title: 'Page not found',
    intro: 'The link may be outdated or mistyped.',
    steps: ['Start again from the application.'],
  },
  request_wrong: {
    title: 'This sign-in link does not work',
    intro: 'The application sent an invalid sign-in request.',
    steps: [
      'Go back to the application and try once more.',
      'If it keeps happening, contact the people who run it and give them the details below.',
    ],
  },
  expired: {
    title: 'This sign-in has expired',
    intro: 'The page was open for too long, or this sign-in is already complete.',
    steps: ['Go back to the application and sign in again. Nothing was lost.'],
  },
  cookie_missing: {
    title: 'Cookies are blocked',
    intro: 'Your browser did not send the cookie that protects your sign-in.',
    steps: [
      'Allow cookies for this address, if your browser or an extension blocks them.',
      'Check the date and time on your device: with a wrong clock, cookies expire too early.',
      'Use the browser you started in: the link does not work in another one.',
      'Then start again from the application.',
    ],
  },
  cross_site: {
    title: 'This form was sent from another website',
    intro: 'For your security, we only accept forms from our own pages.',
    steps: ['Start again from the application and enter your password there.'],
  },
  link_gone: {
    title: 'This link no longer works',
    intro:
      'Links in our emails work once and for a limited time. This one was used or has expired.',
    steps: [
      'If you requested more than one, use the link in the latest email.',
      'Otherwise request a new link and open it soon after it arrives.',
    ],
  },
  email_other_browser: {
    title: 'Use the browser where you asked',
    intro:
      'This link only works in the browser that asked for the email, so that nobody else can sign in with it.',
    steps: [
      'Go back to that browser and enter the code from the email there.',
      'Or start again from the application in this browser.',
      'If you did not ask for the email, close this page and give the code to no one.',
    ],
  },
  too_many: {
    title: 'Too many requests',
    intro: 'We are receiving too many requests from your network.',
    steps: ['Wait a few seconds, then try again. Nothing was lost.'],
  },
  too_often: {
    title: 'Too many sign-ins',
    intro: 'There were too many sign-ins with this account in a short time.',
    steps: [
      'Wait a few minutes, then try again. Your existing sessions continue.',
      'If this was not you, change your password and contact the people who run the application.',
    ],
  },
  sign_up_full: {
    title: 'No new accounts right now',
    intro: 'Too many accounts were requested here in a short time.',
    steps: [
      'Try again tomorrow.',
      'If you can’t wait, ask the people who run the application for an invitation.',
    ],
  },
  user_paused: {
    title: 'Account temporarily locked',
    intro: 'There were too many failed sign-in attempts for this username.',
    steps: [
      'Wait a while, then try again. Your password has not changed.',
      'If you forgot your password, the people who run the application can help.',
    ],
  },
  address_blocked: {
    title: 'Your network is temporarily blocked',
    intro:
      'There were too many failed sign-in attempts from your network, possibly by someone else.',
    steps: [
      'Wait a while, then try again, or use another network.',
      'The people who run the application can lift the block.',
    ],
  },
  network_denied: {
    title: 'You cannot sign in from this network',
    intro:
      'This application only allows sign-ins from certain networks, and yours is not one of them.',
    steps: [
      'Connect to your organization’s network, for example by VPN, and start again.',
      'If you are already connected, give the people who run the application the details below.',
    ],
  },
  device_check_over: {
    title: 'This device check has expired',
    intro: 'It took too long, was already used, or the sign-in it belongs to is complete.',
    steps: ['Go back to the tab where you signed in and check this device again.'],
  },
  device_other_browser: {
    title: 'This device check was started in another browser',
    intro: 'To protect your account, a check only counts in the browser you sign in with.',
    steps: [
      'If you opened this in a different browser or profile, go back to the one you started in.',
      'If you did not start a sign-in, someone may be trying to use your device. Close this page and tell the people who run the application.',
    ],
  },
  sessions_full: {
    title: 'You are signed in on too many devices',
    intro: 'This application limits how many devices you can be signed in on at once.',
    steps: ['Sign out on a device you no longer use, then start again here.'],
  },
  suspended: {
    title: 'Sign-in is paused',
    intro: 'This application is suspended, so nobody can sign in right now.',
    steps: ['Ask the people who run the application when it will be available again.'],
  },
  licence_blocked: {
    title: 'New sign-ins are paused',
    intro: 'The license of this application does not allow new sign-ins right now.',
    steps: [
      'If you are signed in on another device, that keeps working.',
      'Ask the people who run the application for help.',
    ],
  },
  directory_down: {
    title: 'We cannot check passwords right now',
    intro: 'This application’s user directory is not responding. Your password is not the problem.',
    steps: [
      'Try again in a few minutes.',
      'If you are signed in on another device, that keeps working.',
    ],
  },
  account_unusable: {
    title: 'Your account is not ready yet',
    intro:
      'Your password is correct, but your entry in the user directory is incomplete: an email address or name is missing or already used by someone else.',
    steps: ['Ask the people who run the application to fix this. Trying again will not help.'],
  },
  connection_failed: {
    title: 'Sign-in with your provider failed',
    intro: 'Your identity provider did not confirm who you are, so you were not signed in.',
    steps: [
      'Start again from the application.',
      'If it keeps happening, give the people who run the application the details below.',
    ],
  },
  connection_no_account: {
    title: 'You have no account here',
    intro: 'You signed in with your identity provider, but no account here can be used with it.',
    steps: ['Ask the people who run the application for access, and give them the details below.'],
  },
  unavailable: {
    title: 'Please try again in a moment',
    intro: 'We cannot complete your sign-in right now.',
    steps: ['Wait a few seconds, then start again.'],
  },
  internal: {
    title: 'Something went wrong on our side',
    intro: 'We could not complete your sign-in. Please try again.',
    steps: ['If it keeps happening, contact the people who run the application.'],
  },
} satisfies Record<string, MessageText>
export type MessageKind = keyof typeof messages

export const english = {
  account,
  /** The language tag that a browser names. */
  language: 'en',

  /** The title of a page on which something has to be put right. */
  problem: (title: string) => `Problem: ${title}`,
  secureAt: (host: string) => `Secured by ${host}`,

  signIn: 'Sign in',
  signInTo: (host: string) => `Sign in to ${host}`,
  confirmIdentity: 'Confirm it’s you: the next step needs a recent sign-in.',
  username: 'Username or email',
  password: 'Password',
  showPassword: 'Show password',
  attempt,
  otherAccount: 'The application asked for a different account than the one you used.',
  busy: 'Many people are signing in right now. Wait a few seconds and try again.',
  sessionEnded: {
    expired: 'Your session has expired. Sign in again to continue.',
    moved: 'Your browser or network changed. Sign in again to continue.',
  },
  formTooLong: 'What you entered is too long for a username or password.',

  backToApplication: 'Back to the application',
  startAgain: 'Start again',
  details: 'Details for support',
  waitMinutes: (minutes: number) =>
    minutes === 1 ? 'Try again in one minute.' : `Try again in ${minutes} minutes.`,
  messages: messages as Record<MessageKind, MessageText>,

  connections: connectionsEnglish,
  mail: mailEnglish,
  signUp: signUpEnglish,
  steps: stepsEnglish,
  device: deviceEnglish,

  signOut: 'Sign out',
  signOutAsk: (name: string) => `Sign out of ${name}?`,
  signOutIntro: 'You’ll need to sign in again on this device.',
  staySignedIn: 'Stay signed in',
  signedOut: "You're signed out",
  signedOutIntro: 'Your session has ended. You can close this page.',
  signInAgain: 'Sign in again',
}

export type Texts = typeof english
