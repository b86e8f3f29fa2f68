/** Self sign-up. */
export const signUpEnglish = {
  create: 'Create an account',
  address: {
    title: 'Create an account',
    intro: (name: string) =>
      `For ${name}. Enter your email address; we’ll send you a code to confirm it.`,
    email: 'Email address',
    submit: 'Continue',
    signIn: 'Sign in with an existing account',
    invalid: 'Enter a complete email address, like name@example.com.',
    refused:
      'An account can’t be created with this email address. Use the one from your organization.',
  },
  sent: {
    title: 'Check your email',
    intro: (email: string) => `An email to ${email} is on its way.`,
    steps: [
      'Enter the code from it here, or open its link in this browser. Both work once, for a short time.',
      'If it says that you already have an account, sign in with that one.',
      'Nothing after a few minutes? Look in your spam folder, and check the address.',
    ],
    code: 'Code from the email',
    submit: 'Confirm',
    again: 'Send another email',
    otherWays: 'Sign in with an existing account',
  },
  opened: {
    title: 'Create an account',
    intro: (host: string, email: string) =>
      `You opened the link from our email. Confirm ${email} for your new account at ${host}?`,
    submit: 'Confirm',
  },
  details: {
    title: 'Create an account',
    intro: (email: string) => `${email} is confirmed. Tell us who you are.`,
    introPassword: (email: string) =>
      `${email} is confirmed. Enter your name and choose a password.`,
    name: 'Your name',
    nameInvalid: 'Enter your name, with at most 200 characters.',
    submit: 'Create account',
    submitRequest: 'Request account',
  },
  waiting: {
    title: 'Waiting for approval',
    intro: (email: string) => `Your request for an account with ${email} was received.`,
    steps: [
      'An administrator decides about it. Then we’ll email you.',
      'You can close this page. You can’t sign in before that.',
    ],
  },
  taken: 'You already have an account with this email address. Sign in with it.',
}
