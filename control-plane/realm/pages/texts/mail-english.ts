/** Sign-in by email. */
export const mailEnglish = {
  /** The button below the password. */
  ask: 'Email me a sign-in link',
  addressNeeded: 'Enter your email address or username, then ask for the email.',
  sent: {
    title: 'Check your email',
    intro: (login: string) =>
      `If there is an account for ${login}, an email with a code and a link is on its way.`,
    steps: [
      'Enter the code here, or open the link in this browser. Both work once, for a short time.',
      'Nothing after a few minutes? Look in your spam folder, or sign in another way.',
    ],
    code: 'Code from the email',
    submit: 'Sign in',
    again: 'Send another email',
    otherWays: 'Other ways to sign in',
  },
  opened: {
    title: 'Sign in',
    intro: (host: string, login: string) =>
      `You opened the link from our email. Sign in to ${host} as ${login}?`,
    submit: 'Sign in',
  },
  over: 'This code or link has expired, was used or was replaced. Send another email and use the latest one.',
  codeNeeded: 'Enter the code from the email.',
  waitSeconds: (seconds: number) =>
    seconds < 100
      ? `You can ask for another email in ${seconds === 1 ? 'one second' : `${seconds} seconds`}.`
      : `You can ask for another email in ${Math.ceil(seconds / 60)} minutes.`,
  enough: 'No more emails for this sign-in. Start again from the application.',
}
