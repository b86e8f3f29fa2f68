/**
 * What the service says on a tenant's own hostname, in English: the table that every other language
 * follows. Programs read its sentences as `detail`.
 */
import type { AllowClause } from '../../fleet/access-rules.ts'
import type { RefuseReason, SignInReason } from '../../reasons.ts'

interface RefusalText {
  readonly title: string
  readonly text: string
}

/** Why somebody is asked to sign in, in one sentence. */
const reasons: Readonly<Record<SignInReason, string>> = {
  no_session: 'You are not signed in.',
  session_repeated: 'Your browser sent more than one session cookie.',
  token_malformed: 'Your session could not be read.',
  token_too_long: 'Your session could not be read.',
  algorithm_refused: 'Your session could not be verified.',
  header_refused: 'Your session could not be verified.',
  key_unknown: 'Your session was signed with a key that is no longer valid.',
  signature_wrong: 'Your session could not be verified.',
  claims_malformed: 'Your session could not be verified.',
  issuer_wrong: 'Your session belongs to another application.',
  audience_wrong: 'Your session belongs to another application.',
  issued_ahead: 'Your session is dated in the future: a clock on our side is wrong.',
  not_yet_valid: 'Your session is dated in the future: a clock on our side is wrong.',
  expired: 'Your session has expired.',
  session_too_old: 'Your session has reached its maximum duration.',
  revoked: 'Your session was ended.',
  seen_missing: 'Your session could not be continued.',
  idle: 'Your session expired because it was not used.',
  binding_step_up: 'Your browser or network changed. Sign in again.',
  binding_terminate: 'Your session was ended because your browser or network changed.',
  strength_missing: 'This page needs a fresh sign-in with your second factor.',
  groups_outdated: 'Your memberships have changed. Sign in again.',
}

const refusals: Readonly<Record<RefuseReason, RefusalText>> = {
  host_unknown: {
    title: 'No application found',
    text: 'There is no application at this address. Check the address for typos.',
  },
  sealed: {
    title: 'Page not found',
    text: 'Nothing was found at this address.',
  },
  path_unreadable: {
    title: 'Malformed address',
    text: 'This address contains invalid characters. Check it, or start from the home page.',
  },
  origin_foreign: {
    title: 'Request from another site',
    text: 'A page of another site tried to open a connection in your name. It was blocked.',
  },
  rule_denied: {
    title: 'No access',
    text: 'You are signed in, but you don’t have access to this page. Ask your administrator for it.',
  },
  websockets_exhausted: {
    title: 'Too many connections',
    text: 'Too many connections are open. Close some of them, or try again in a moment.',
  },
  suspended: {
    title: 'Temporarily suspended',
    text: 'This application is currently suspended. Contact the people who run it.',
  },
  not_ready: {
    title: 'Starting up',
    text: 'This service is starting. Try again in a few seconds.',
  },
  state_lost: {
    title: 'Temporarily unavailable',
    text: 'This application cannot be served securely right now. Try again in a moment.',
  },
  client_unreadable: {
    title: 'Temporarily unavailable',
    text: 'The application cannot see where requests come from, so nobody can sign in. Its operator must set trusted proxies.',
  },
  machine_malformed: {
    title: 'Not a machine’s credentials',
    text: 'Send Service-Client-Id (svc_…) and Service-Client-Secret (sms_…), each exactly once.',
  },
  machine_with_session: {
    title: 'Two identities',
    text: 'This request carries credentials of a machine and a session of a person. Send one of them.',
  },
  machine_unknown: {
    title: 'Unknown credentials',
    text: 'There is no machine with this id and secret. Check both, or create a new secret in the console.',
  },
  machine_secret_ended: {
    title: 'Secret expired',
    text: 'This secret has reached its end. Create a new one in the console under Machines.',
  },
  machine_disabled: {
    title: 'Machine disabled',
    text: 'This machine is disabled. An administrator can enable it in the console under Machines.',
  },
  machine_not_allowed: {
    title: 'No access',
    text: 'The credentials are right, but no access rule allows this machine to open this path.',
  },
  machine_rate_limited: {
    title: 'Too many attempts',
    text: 'Too many wrong credentials came from this address. Fix them: the right ones work at once.',
  },
  machine_token_ambiguous: {
    title: 'More than one identity',
    text: 'Send the token in one Authorization header, without Service-Client headers and without a session cookie.',
  },
  machine_token_invalid: {
    title: 'Invalid token',
    text: 'This is not an access token of a machine of this application. Get one from the token endpoint with grant_type=client_credentials.',
  },
  machine_token_expired: {
    title: 'Token expired',
    text: 'This token has expired. Get a new one from the token endpoint.',
  },
  machine_token_revoked: {
    title: 'Token revoked',
    text: 'The secret behind this token was revoked or has expired, or the machine is disabled. Get a new token with a working secret.',
  },
}

export const english = {
  reasons,
  refusals,
  /** One way in, as a line of a list. */
  accessNeeded: (way: AllowClause): string =>
    [
      ...(way.group === undefined ? [] : [`membership in ${way.group}`]),
      ...(way.not_group === undefined ? [] : [`no membership in ${way.not_group}`]),
      ...Object.entries(way.attr ?? {}).map(([name, value]) => `${name} “${value}”`),
      ...(way.network === undefined ? [] : [`the network ${way.network}`]),
      ...(way.not_network === undefined ? [] : [`another network than ${way.not_network}`]),
      ...(way.strength === undefined ? [] : ['a second factor (set one up in your account)']),
      ...(way.max_age === undefined ? [] : ['a recent sign-in']),
    ].join(', ') || 'a sign-in',
  accessWays: 'One of these opens it:',
  askForAccess: 'Ask for access',
  accessTo: (url: string): string => `Access to ${url}`,
  upstreamFailed: {
    title: 'The application is not responding',
    text: 'Try again in a moment.',
  },
  connectorAbsent: {
    title: 'The application is offline',
    text: 'It has no connection to this address right now. Try again in a moment.',
  },
  tryAgain: 'Try again',
  homePage: 'Home page',

  badRequests: {
    address: {
      title: 'Malformed address',
      text: 'This address contains invalid characters. Check it, or start from the home page.',
    },
    addressTooLong: {
      title: 'Address too long',
      text: 'This address is longer than we accept. Check it, or start from the home page.',
    },
    tooManyCookies: {
      title: 'Too many cookies',
      text: 'Your browser sent more cookies than we accept. Delete the cookies of this site, then try again.',
    },
    tooSlow: {
      title: 'Request timed out',
      text: 'Your request took too long to arrive. Check your connection, then try again.',
    },
    method: {
      title: 'This page can’t be opened this way',
      text: 'Start from the home page.',
    },
    internal: {
      title: 'Something went wrong on our side',
      text: 'Try again in a moment.',
    },
    other: {
      title: 'Invalid request',
      text: 'Your browser sent a request that we could not read. Start from the home page.',
    },
  },

  signInUnavailable: {
    title: 'Sign-in is temporarily unavailable',
    text: 'Try again in a moment. Existing sessions continue.',
  },
  signInBlocked: {
    title: 'New sign-ins are paused',
    text: (application: string) =>
      `New sign-ins to ${application} are paused. Contact the people who run it.`,
  },
  signInLoop: {
    title: 'Sign-in keeps repeating',
    text: (rounds: number, cause: string) => `We stopped it after ${rounds} attempts. ${cause}`,
    noCookie: 'Your browser did not keep the session cookie. Allow cookies for this site.',
  },
  tooManySignIns: {
    title: 'Too many sign-ins',
    text: 'There were too many sign-ins from your network. Reload this page in a moment.',
  },
  signInIncomplete: {
    title: 'Sign-in was not completed',
    text: 'Nothing was lost. Sign in again to continue where you left off.',
  },
  signInAgain: 'Sign in again',

  signOut: 'Sign out',
  signOutAsk: {
    title: 'Sign out?',
    text: (application: string) => `Do you want to sign out of ${application}?`,
  },
  signedOut: {
    title: "You're signed out",
    text: (application: string) => `Your session at ${application} has ended.`,
  },
  notSignedOut: {
    title: 'You may still be signed in',
    text: (application: string) =>
      `We could not end your session at ${application}. Try again in a moment.`,
  },

  me: {
    title: 'Your session',
    intro: (application: string) => `You are signed in to ${application}.`,
    email: 'Email',
    since: 'Signed in',
    until: 'Expires',
    account: 'Password and account',
    sessions: 'Active sessions',
    devices: 'Known browsers',
    devicesNone: 'No known browsers yet.',
    unknownBrowser: 'Unknown browser',
    thisOne: 'this device',
    lastUsed: 'Last used',
    lastSignIn: 'Last sign-in',
    end: 'Sign out',
    forget: 'Forget',
    machines: 'Devices with our agent',
    machinesIntro: 'What the agent reports about them:',
    lastReport: 'Last report',
    allGood: 'No problems reported.',
    remove: 'Remove',
    listUnavailable: 'Your sessions and browsers cannot be shown right now. Try again in a moment.',
    back: 'Back to your sessions',
    done: {
      session: 'Session ended. That device is signed out.',
      device: 'Browser forgotten. Its next sign-in counts as a new browser.',
      machine: 'Device removed. Its sessions have ended.',
    },
    refusals: {
      cross_site_form: {
        title: 'This form was not sent from this page',
        text: 'Nothing was changed. Reload the page and use the button there.',
      },
      form_invalid: {
        title: 'Invalid form',
        text: 'Choose one session, browser or device. Reload the page and try again.',
      },
      form_too_large: {
        title: 'This form is too large',
        text: 'Nothing was changed. Reload the page and use the button there.',
      },
      not_found: {
        title: 'Session, browser or device not found',
        text: 'It may have ended already. Reload the page to see the current list.',
      },
      unavailable: {
        title: 'Temporarily unavailable',
        text: 'We cannot confirm that it ended. Reload the page in a moment.',
      },
    },
  },
}

export type Texts = typeof english
