/** What the pages behind the password say, in English. */
import type { PasswordProblem } from '../../../policy/new-password.ts'

const passwordProblem: Record<PasswordProblem, string> = {
  password_too_short: 'This password is too short. Use more characters.',
  password_too_long: 'This password is longer than a password can be.',
  password_too_weak: 'This password is easy to guess. Use more words, or ones that nobody expects.',
  password_breached: 'This password is on lists that attackers use. Choose another one.',
  password_used_before: 'You have used this password before. Choose another one.',
}

export const stepsEnglish = {
  signingInAs: (username: string) => `You are signing in as ${username}.`,
  anotherAccount: 'Use another account',

  secondFactor: 'Confirm that it is you',
  code: 'Code',
  codeHint: 'From your authenticator app, or one of your recovery codes.',
  recoveryCode: 'Recovery code',
  recoveryCodeHint: 'One of the codes that you were shown when you set up your passkey.',
  confirm: 'Confirm',
  usePasskey: 'Use your passkey',
  passkeyNeedsScript: 'Passkeys need JavaScript, which your browser does not run here. Use a code.',
  passkeyFailed: 'That did not work. Try again, or use a code.',

  enrol: 'Set up a second factor',
  enrolIntro: 'From now on you confirm with it that it is you.',
  enrolApp: 'With an authenticator app',
  enrolAppSteps: [
    'Open your authenticator app and add an account.',
    'Scan this picture, or type the key below it.',
    'Enter the code that the app shows.',
  ],
  qrLabel: 'Picture for your authenticator app',
  keyLabel: 'Key for your authenticator app',
  appCode: 'Code that the app shows',
  enrolAppSubmit: 'Set up the app',
  enrolPasskey: 'With a passkey',
  enrolPasskeyHint: 'The fingerprint, face or PIN of this device, or a security key.',
  enrolPasskeySubmit: 'Set up a passkey',
  enrolNeedsScript: 'Passkeys need JavaScript, which your browser does not run here. Use an app.',

  recoveryCodes: 'Keep your recovery codes',
  recoveryCodesIntro:
    'Each of them replaces your second factor once, for the day on which you do not have it.',
  recoveryCodesKeep: 'Print them or write them down. They are not shown again.',
  recoveryCodesSaved: 'I have kept them, go on',

  newPasswordIntro: 'The one you have is too old. Everything else you entered is right.',
  newPasswordHint: (characters: number) => `At least ${characters} characters.`,
  newPasswordSubmit: 'Save and sign in',
  passwordProblem,
}
