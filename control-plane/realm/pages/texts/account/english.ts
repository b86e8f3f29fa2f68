/** What the pages about a person's own account say. */
import { own } from './own-english.ts'

export const account = {
  own,
  forgotten: {
    title: 'Forgot your password?',
    intro: 'We send you a link with which you can choose a new one.',
    send: 'Send the link',
  },
  mailSent: {
    title: 'Look into your mail',
    intro: 'If there is an account of that name, a link is on its way to its e-mail address.',
    steps: [
      'It works once, and for one hour.',
      'Nothing there? Look into the folder for unwanted mail, and check what you entered.',
    ],
  },
  reset: {
    title: 'Choose a new password',
    intro: 'You will be signed out everywhere, and sign in with the new one.',
  },
  invite: {
    title: 'Choose your password',
    intro: 'With it you sign in from now on.',
  },
  newPassword: 'New password',
  repeatPassword: 'Once more',
  passwordHint: (characters: number) =>
    `At least ${characters} characters. Long and easy to remember is good.`,
  passwordsDiffer: 'The two passwords are not the same. Enter both again.',
  savePassword: 'Save the password',
  passwordChanged: {
    title: 'Your password is saved',
    intro: 'Sign in with it now. Every other session has ended.',
  },
  confirmEmail: {
    title: 'Confirm your e-mail address',
    intro: (email: string) => `From now on your account belongs to ${email}.`,
    submit: 'Confirm',
  },
  emailChanged: {
    title: 'Your e-mail address has changed',
    intro: (email: string) => `Your account now belongs to ${email}.`,
  },
}
