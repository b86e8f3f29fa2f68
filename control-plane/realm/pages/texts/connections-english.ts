/** Sign-in with the company's own identity provider. */
export const connectionsEnglish = {
  continueWith: (name: string) => `Continue with ${name}`,
  or: 'or with a password',
  orElse: 'or',
  next: 'Continue',
  addressNeeded: 'Enter your email address or username.',
  noneForAddress: 'No identity provider is set up for this address. Choose one below.',
  otherWays: 'Other ways to sign in',
  orEmergency: 'or with emergency access',
  emergency: 'Emergency access with a password',
  /** An account with the address is here already. */
  connect:
    'There is already an account with your email address. Sign in to it once with your password to connect it. After that, your provider is enough.',
  test: {
    title: 'Test sign-in',
    passed: 'The test passed. You can activate this connection in the console now.',
    failed: 'Nobody with these claims can sign in:',
    person: 'Signs in as',
    identifier: 'Identified by',
    name: 'Name',
    groups: 'Groups',
    attributes: 'Attributes',
    claims: 'What the provider says',
    notSignedIn: 'This was only a test: you are not signed in, and no account was created.',
    factorMapped: 'Counts as a second factor',
    yes: 'yes',
    no: 'no',
  },
}
