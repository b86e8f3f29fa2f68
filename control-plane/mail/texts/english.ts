/** What mails say. The type of every language is made from this one. */
import type { AlertMetric } from '../../store/monitoring-names.ts'
interface MailFacts {
  readonly application: string
  readonly name: string
  readonly link: string
}

export interface MailText {
  readonly subject: string
  readonly lines: readonly string[]
}

/** Of what happens again and again: no more is written for a while. */
interface NoticeFacts {
  readonly isLast: boolean
}

interface DeviceFacts extends NoticeFacts {
  readonly application: string
  readonly name: string
  readonly browser: string
  readonly ip: string
  readonly at: string
  readonly link: string
}

interface PasswordFacts extends MailFacts, NoticeFacts {
  /** Whoever else had the account comes with a new browser now. */
  readonly areBrowsersForgotten: boolean
  /** Somebody who administers the account has chosen it. */
  readonly isByOther: boolean
}

/** What has happened to the second factors of an account. */
export type FactorChange =
  | 'totp_added'
  | 'passkey_added'
  | 'totp_removed'
  | 'passkey_removed'
  | 'codes_renewed'
  | 'all_removed'

interface ColleagueFacts {
  /** Of the tenant that they are to administer. */
  readonly tenant: string
  /** The address of who invites; '' where it is the operator. */
  readonly by: string
  readonly link: string
}

interface AlertFacts {
  readonly tenant: string
  readonly what: AlertMetric
  readonly value: number
  readonly threshold: number
  readonly minutes: number
  readonly link: string
  /** For who administers nothing and has agreed: how to say no. */
  readonly stopLink?: string
}

interface SignInFacts extends MailFacts {
  readonly code: string
  readonly browser: string
  readonly ip: string
  readonly at: string
  readonly minutes: number
}

interface WaitingFacts {
  readonly tenant: string
  readonly count: number
  readonly link: string
}

type ApplicationFacts = Omit<MailFacts, 'name'>

export interface MailTexts {
  readonly signIn: (facts: SignInFacts) => MailText
  readonly signUp: (facts: Omit<SignInFacts, 'name'>) => MailText
  /** To who has asked for an account and has one. */
  readonly signUpKnown: (facts: ApplicationFacts) => MailText
  readonly signUpWaiting: (facts: ApplicationFacts) => MailText
  readonly signUpApproved: (facts: MailFacts) => MailText
  readonly signUpRefused: (facts: Omit<MailFacts, 'link'>) => MailText
  /** To administrators. */
  readonly signUpsWait: (facts: WaitingFacts) => MailText
  readonly invite: (facts: MailFacts) => MailText
  readonly reset: (facts: MailFacts) => MailText
  readonly email: (facts: MailFacts) => MailText
  readonly emailChanged: (
    facts: Omit<MailFacts, 'link'> & NoticeFacts & { readonly email: string },
  ) => MailText
  readonly passwordChanged: (facts: PasswordFacts) => MailText
  readonly newDevice: (facts: DeviceFacts) => MailText
  readonly colleague: (facts: ColleagueFacts) => MailText
  readonly alert: (facts: AlertFacts) => MailText
  readonly alertConfirm: (facts: Pick<AlertFacts, 'tenant' | 'link'>) => MailText
  readonly factorsChanged: (
    facts: MailFacts & NoticeFacts & { readonly what: FactorChange },
  ) => MailText
}

const metrics: Readonly<Record<AlertMetric, string>> = {
  refused_sign_ins: 'Refused sign-ins',
  step_ups: 'Second factors requested',
  sealed_hits: 'Sealed path requests',
  lockouts: 'Lockouts',
  device_other_browser: 'Device checks from another browser',
  device_break_glass: 'Emergency access sign-ins',
  failed_deliveries: 'Failed webhook deliveries',
}

const factorChanges: Readonly<Record<FactorChange, string>> = {
  totp_added: 'an authenticator app was added',
  passkey_added: 'a passkey was added',
  totp_removed: 'an authenticator app was removed',
  passkey_removed: 'a passkey was removed',
  codes_renewed: 'new recovery codes were created, and the old ones no longer work',
  all_removed: 'all second factors were removed; you can set up new ones at your next sign-in',
}

const lastOf = (isLast: boolean) =>
  isLast
    ? [
        'We will pause emails like this one for a while, even if it happens again. Your account page shows the current state.',
      ]
    : []

/** What the console is called where an application has its name. */
export const ENGLISH_CONSOLE = 'the console'

export const english: MailTexts = {
  signIn: ({ application, name, code, link, browser, ip, at, minutes }) => ({
    subject: `Sign in to ${application}`,
    lines: [
      `Hello ${name},`,
      `Someone asked to sign in to your account at ${application} (${browser || 'an unknown browser'}, IP address ${ip}, ${at}). If it was you, enter this code on the page where you asked:`,
      code,
      'Or open this link in the same browser:',
      link,
      `Both work once, only in the browser that asked, and expire in ${minutes} minutes. If it was not you, ignore this email and give the code to no one: without it, nobody gets in.`,
    ],
  }),
  signUp: ({ application, code, link, browser, ip, at, minutes }) => ({
    subject: `Confirm your email address for ${application}`,
    lines: [
      'Hello,',
      `Someone asked for an account at ${application} with this email address (${browser || 'an unknown browser'}, IP address ${ip}, ${at}). If it was you, enter this code on the page where you asked:`,
      code,
      'Or open this link in the same browser:',
      link,
      `Both work once, only in the browser that asked, and expire in ${minutes} minutes. If it was not you, ignore this email and give the code to no one: no account is created.`,
    ],
  }),
  signUpKnown: ({ application, link }) => ({
    subject: `You already have an account at ${application}`,
    lines: [
      'Hello,',
      `Someone asked for a new account at ${application} with this email address. You already have one, so nothing was created. If it was you, go back to the application and sign in. If you forgot your password, choose a new one:`,
      link,
      'If it was not you, ignore this email: nothing has changed.',
    ],
  }),
  signUpWaiting: ({ application }) => ({
    subject: `Your request for ${application} is waiting for approval`,
    lines: [
      'Hello,',
      `Someone asked again for an account at ${application} with this email address. The first request is still waiting for an administrator. You don’t need to do anything: we’ll email you once it is decided.`,
    ],
  }),
  signUpApproved: ({ application, name, link }) => ({
    subject: `Your account at ${application} is ready`,
    lines: [
      `Hello ${name},`,
      `An administrator approved your account at ${application}. Sign in with this email address:`,
      link,
    ],
  }),
  signUpRefused: ({ application, name }) => ({
    subject: `Your request for ${application} was not approved`,
    lines: [
      `Hello ${name},`,
      `An administrator did not approve your request for an account at ${application}. What you entered was deleted. If you think this is a mistake, contact the people who run the application.`,
    ],
  }),
  signUpsWait: ({ tenant, count, link }) => ({
    subject: `${tenant}: account requests are waiting`,
    lines: [
      `People waiting for approval of an account at ${tenant}: ${count}.`,
      'Approve or refuse requests in the console:',
      link,
      'You get this email at most once an hour. Requests that nobody decides about are deleted after 30 days.',
    ],
  }),
  invite: ({ application, name, link }) => ({
    subject: `You're invited to ${application}`,
    lines: [
      `Hello ${name},`,
      `An account was created for you at ${application}. Choose a password to get started:`,
      link,
      'The link works once and expires in seven days.',
    ],
  }),
  reset: ({ application, name, link }) => ({
    subject: `Reset your password for ${application}`,
    lines: [
      `Hello ${name},`,
      `We received a request to reset the password of your account at ${application}. Choose a new password:`,
      link,
      'The link works once and expires in one hour. If you did not request this, ignore this email: nothing has changed.',
    ],
  }),
  email: ({ application, name, link }) => ({
    subject: `Confirm your new email address for ${application}`,
    lines: [
      `Hello ${name},`,
      `Confirm that this is your new email address for ${application}, on a device where you are signed in:`,
      link,
      'The link works once and expires in one day. If you did not request this, ignore this email.',
    ],
  }),
  emailChanged: ({ application, name, email, isLast }) => ({
    subject: `Your email address for ${application} was changed`,
    lines: [
      `Hello ${name},`,
      `Your account at ${application} now uses ${email}.`,
      'If this was not you, contact the people who run the application right away.',
      ...lastOf(isLast),
    ],
  }),
  passwordChanged: ({ application, name, link, areBrowsersForgotten, isByOther, isLast }) => ({
    subject: `Your password for ${application} was changed`,
    lines: [
      `Hello ${name},`,
      isByOther
        ? `An administrator set a new password for your account at ${application}. All sessions have ended.`
        : `The password of your account at ${application} was changed. All sessions have ended.`,
      ...(areBrowsersForgotten
        ? ['Browsers you used before are no longer recognized and count as new.']
        : []),
      isByOther
        ? 'If you do not know why, ask the people who run the application. You can choose your own password here:'
        : 'If this was not you, choose a new password right away:',
      link,
      ...lastOf(isLast),
    ],
  }),
  newDevice: ({ application, name, browser, ip, at, link, isLast }) => ({
    subject: `New sign-in to ${application}`,
    lines: [
      `Hello ${name},`,
      `Your account at ${application} was used from a new browser: ${browser || 'an unknown browser'}, IP address ${ip}, ${at}.`,
      'If this was you, you can ignore this email. If not, choose a new password right away:',
      link,
      ...lastOf(isLast),
    ],
  }),
  colleague: ({ tenant, by, link }) => ({
    subject: `You're invited to administer ${tenant}`,
    lines: [
      'Hello,',
      by === ''
        ? `You are invited to administer ${tenant} in the console:`
        : `${by} invites you to administer ${tenant} in the console:`,
      link,
      'The link works once, expires in seven days and is for this email address only. If you did not expect it, ignore this email.',
    ],
  }),
  factorsChanged: ({ application, name, what, link, isLast }) => ({
    subject: `Your second factors for ${application} were changed`,
    lines: [
      `Hello ${name},`,
      `On your account at ${application}, ${factorChanges[what]}.`,
      'If this was you, you can ignore this email. If not, check your account and choose a new password right away:',
      link,
      ...lastOf(isLast),
    ],
  }),
  alert: ({ tenant, what, value, threshold, minutes, link, stopLink }) => ({
    subject: `Alert for ${tenant}: ${metrics[what]}`,
    lines: [
      'Hello,',
      `${metrics[what]} at ${tenant}: ${value} within ${minutes} min. The threshold is ${threshold}.`,
      ...(stopLink === undefined
        ? [
            'See what happened:',
            link,
            `You get this email because you have access to ${tenant} in the console. Administrators can turn it off there, under Alerts.`,
          ]
        : [
            `Administrators of ${tenant} can see what happened in the console.`,
            'You get this email because you confirmed this address. Unsubscribe:',
            stopLink,
          ]),
    ],
  }),
  alertConfirm: ({ tenant, link }) => ({
    subject: `Confirm alert emails for ${tenant}`,
    lines: [
      'Hello,',
      `An administrator of ${tenant} wants to send its alerts to this address. If you want them, confirm within 7 days:`,
      link,
      'If not, ignore this email: you will get no alerts.',
    ],
  }),
}
