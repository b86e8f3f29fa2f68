/** What the pages about a person's own account say. */
import { own } from './own-english.ts'

export const account = {
  own,
  forgotten: {
    title: 'Forgot your password?',
    intro: 'We’ll email you a link to choose a new one.',
    send: 'Send link',
  },
  mailSent: {
    title: 'Check your email',
    intro: 'If this account exists, we sent a link to its email address.',
    steps: [
      'The link works once and expires in one hour.',
      'No email? Check your spam folder and what you entered.',
    ],
  },
  reset: {
    title: 'Choose a new password',
    intro: 'You’ll be signed out everywhere. Then sign in with the new password.',
  },
  invite: {
    title: 'Choose your password',
    intro: 'You’ll use it each time you sign in.',
  },
  newPassword: 'New password',
  repeatPassword: 'Repeat password',
  passwordHint: (characters: number) =>
    `At least ${characters} characters. A few words that you can remember work well.`,
  passwordsDiffer: 'The passwords do not match. Enter both again.',
  savePassword: 'Save password',
  passwordSaved: {
    invite: { title: 'Password saved', intro: 'You can sign in with it now.' },
    reset: {
      title: 'Password changed',
      intro: 'Sign in with your new password. All other sessions have ended.',
    },
  },
  confirmEmail: {
    title: 'Confirm your email address',
    intro: (email: string) => `Your account will use ${email} from now on.`,
    submit: 'Confirm',
  },
  emailChanged: {
    title: 'Email address changed',
    intro: (email: string) => `Your account now uses ${email}.`,
  },
}
