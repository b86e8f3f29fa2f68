/** What mails say. The type of every language is made from this one. */
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

export interface MailTexts {
  readonly invite: (facts: MailFacts) => MailText
  readonly reset: (facts: MailFacts) => MailText
  readonly email: (facts: MailFacts) => MailText
  readonly emailChanged: (
    facts: Omit<MailFacts, 'link'> & NoticeFacts & { readonly email: string },
  ) => MailText
  readonly passwordChanged: (facts: PasswordFacts) => MailText
  readonly newDevice: (facts: DeviceFacts) => MailText
  readonly colleague: (facts: ColleagueFacts) => MailText
  readonly factorsChanged: (
    facts: MailFacts & NoticeFacts & { readonly what: FactorChange },
  ) => MailText
}

const factorChanges: Readonly<Record<FactorChange, string>> = {
  totp_added: 'an authenticator app was added',
  passkey_added: 'a passkey was added',
  totp_removed: 'an authenticator app was removed',
  passkey_removed: 'a passkey was removed',
  codes_renewed: 'new recovery codes were made, and the old ones are worth nothing now',
  all_removed: 'all second factors were removed; you set up new ones when you next sign in',
}

const lastOf = (isLast: boolean) =>
  isLast
    ? [
        'For a while we send you no more mails like this one, even if it happens again. Your account shows how things stand.',
      ]
    : []

export const english: MailTexts = {
  invite: ({ application, name, link }) => ({
    subject: `You have been invited to ${application}`,
    lines: [
      `Hello ${name},`,
      `an account for ${application} has been made for you. Choose a password to begin:`,
      link,
      'The link works once, and for seven days.',
    ],
  }),
  reset: ({ application, name, link }) => ({
    subject: `Choose a new password for ${application}`,
    lines: [
      `Hello ${name},`,
      `somebody, probably you, wants a new password for your account at ${application}:`,
      link,
      'The link works once, and for one hour. If it was not you, do nothing: nothing has changed.',
    ],
  }),
  email: ({ application, name, link }) => ({
    subject: `Confirm your new e-mail address for ${application}`,
    lines: [
      `Hello ${name},`,
      `confirm that this is your new address for ${application}:`,
      link,
      'The link works once, and for one day. If it was not you, do nothing.',
    ],
  }),
  emailChanged: ({ application, name, email, isLast }) => ({
    subject: `Your e-mail address for ${application} has changed`,
    lines: [
      `Hello ${name},`,
      `your account at ${application} now belongs to ${email}.`,
      'If it was not you, tell the people who run the application at once.',
      ...lastOf(isLast),
    ],
  }),
  passwordChanged: ({ application, name, link, areBrowsersForgotten, isByOther, isLast }) => ({
    subject: `Your password for ${application} has changed`,
    lines: [
      `Hello ${name},`,
      isByOther
        ? `an administrator has set a new password for your account at ${application}, and all sessions have ended.`
        : `the password of your account at ${application} has been changed, and all sessions have ended.`,
      ...(areBrowsersForgotten
        ? ['The browsers you used before are no longer recognized: each counts as new.']
        : []),
      isByOther
        ? 'If you do not know why, ask the people who run the application. You can choose another one yourself:'
        : 'If it was not you, choose a new one at once:',
      link,
      ...lastOf(isLast),
    ],
  }),
  newDevice: ({ application, name, browser, ip, at, link, isLast }) => ({
    subject: `New sign-in to ${application}`,
    lines: [
      `Hello ${name},`,
      `your account at ${application} was used by a browser that we had not seen before: ${browser || 'an unknown browser'}, from ${ip}, ${at}.`,
      'If it was you, there is nothing to do. If not, choose a new password at once:',
      link,
      ...lastOf(isLast),
    ],
  }),
  colleague: ({ tenant, by, link }) => ({
    subject: `You have been invited to administer ${tenant}`,
    lines: [
      'Hello,',
      by === ''
        ? `you have been invited to administer ${tenant} in the console:`
        : `${by} invites you to administer ${tenant} in the console:`,
      link,
      'The link works once, for seven days, and for this address alone. If you did not expect it, ignore this mail.',
    ],
  }),
  factorsChanged: ({ application, name, what, link, isLast }) => ({
    subject: `The second factors of your account for ${application} have changed`,
    lines: [
      `Hello ${name},`,
      `on your account at ${application}, ${factorChanges[what]}.`,
      'If it was you, there is nothing to do. If not, look at your account and choose a new password at once:',
      link,
      ...lastOf(isLast),
    ],
  }),
}
