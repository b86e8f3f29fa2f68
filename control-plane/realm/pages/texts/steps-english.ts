/** What the pages behind the password say, in English. */
import type { PasswordProblem } from '../../../policy/new-password.ts'

const passwordProblem: Record<PasswordProblem, string> = {
  password_too_short: 'This password is too short. Use more characters.',
  password_too_long: 'This password is too long. Use fewer characters.',
  password_too_weak: 'This password is easy to guess. Add more words or less common ones.',
  password_breached: 'This password has appeared in a data breach. Choose a different one.',
  password_used_before: 'You have used this password before. Choose a different one.',
}

export const stepsEnglish = {
  signingInAs: (username: string) => `Signing in as ${username}.`,
  anotherAccount: 'Use another account',

  secondFactor: "Confirm it's you",
  code: 'Code',
  codeHint: 'From your authenticator app, or one of your recovery codes.',
  recoveryCode: 'Recovery code',
  recoveryCodeHint: 'One of the codes you saved when you set up your passkey.',
  confirm: 'Confirm',
  usePasskey: 'Use your passkey',
  passkeyNeedsScript:
    'Passkeys need JavaScript, which is turned off in this browser. Use a code instead.',
  passkeyFailed: 'That did not work. Try again, or use a code.',

  enrol: 'Set up a second factor',
  enrolIntro: "You'll use this at each sign-in.",
  enrolApp: 'Authenticator app',
  enrolAppSteps: [
    'Open your authenticator app and add an account.',
    'Scan this QR code, or enter the key below it.',
    'Enter the code shown in the app.',
  ],
  qrLabel: 'QR code for your authenticator app',
  keyLabel: 'Setup key',
  appCode: 'Code from the app',
  enrolAppSubmit: 'Turn on authenticator app',
  enrolPasskey: 'Passkey',
  enrolPasskeyHint: 'Use your fingerprint, face or device PIN, or a security key.',
  enrolPasskeySubmit: 'Set up a passkey',
  enrolNeedsScript:
    'Passkeys need JavaScript, which is turned off in this browser. Use an app instead.',

  recoveryCodes: 'Save your recovery codes',
  recoveryCodesIntro: 'If you lose access to your second factor, each code lets you sign in once.',
  recoveryCodesKeep: 'Print them or store them somewhere safe. They will not be shown again.',
  recoveryCodesSaved: 'I saved them, continue',

  newPasswordIntro: 'Your password has expired. Choose a new one to finish signing in.',
  newPasswordHint: (characters: number) => `At least ${characters} characters.`,
  newPasswordSubmit: 'Save and sign in',
  passwordProblem,
}
