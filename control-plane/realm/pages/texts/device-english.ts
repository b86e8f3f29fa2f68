/** What the pages say that find out on which machine a sign-in is, in English. */
export const deviceEnglish = {
  title: 'Check this device',
  intro: 'This application only allows devices with its device agent.',
  check: 'Check this device',
  checkHint:
    'This opens a new tab that checks your device. When it’s done, come back here and continue.',
  continue: 'Continue',
  checkedContinue: 'Continue after checking',
  noAgent: 'Does the new tab show an error?',
  noAgentHint:
    'Then the device agent isn’t installed on this device, isn’t running, or another program has taken its port. Where the agent is installed, an administrator can see which with “service-device-agent status”. If other people use this computer, it must be the agent of this application.',
  typedHint:
    'Can’t this browser reach the agent? Run “service-device-agent code” on this device and enter the code within a minute. Never read it to anyone: whoever has it can sign in as you.',
  typedCode: 'Code from the agent',
  typedSubmit: 'Check with the code',
  typedWrong: 'That code is wrong, was already used, or has expired. Run the command again.',
  hasNone: 'This device has no agent',

  missingTitle: 'This device isn’t enrolled',
  missingIntro: 'This application only allows devices with its device agent.',
  missingSteps: [
    'Ask the people who run the application for an install link for this device.',
    'Install the agent. It takes about a minute and needs administrator rights.',
    'Then check this device again, or sign in on a device that is already enrolled.',
  ],

  failingTitle: 'This device doesn’t meet the requirements',
  failingIntro: 'Fix the following, then check this device again. Nothing was lost.',
  warningTitle: 'This device needs attention',
  warningIntro: 'You can continue, but please fix the following soon.',
  graceIntro: (date: string) =>
    `Please fix the following by ${date}. After that, you can’t sign in with this device.`,
  checkAgain: 'Check again',
  goOn: 'Continue anyway',
  goOnUnchecked: 'Continue without checking',

  checkedTitle: 'This device was checked',
  checkedIntro: 'You can close this tab and continue in the first one.',
  continueHere: 'Continue here',

  failedTitle: 'We couldn’t check this device',
  failed: {
    device_suspect_clone:
      'This device may have been copied: another machine uses its key. Ask the people who run the application to look at it.',
    device_refused:
      'This device is no longer enrolled. Ask the people who run the application for a new install link.',
    device_key_lost:
      'This device was reset: its security chip no longer has the key that it was enrolled with. Ask the people who run the application for a new install link.',
    device_challenge_invalid: 'The check took too long or was already used. Start it again.',
    other: 'The device agent couldn’t complete the check. Wait a moment, then start it again.',
  },
  backToSignIn: 'Back to sign-in',
}
