/**
 * Every address of a realm, exactly: capitals, a slash at the end and other methods are somewhere
 * else, and end here. The provider's own router is more generous, so that what is counted, bounded or
 * asked of a browser in front of it would not hold for its other spellings.
 */
import { LIMITS } from '../../shared/limits.ts'

export type Counted = 'authorize' | 'signIn' | 'device' | 'account' | 'logout'

export interface RealmRoute {
  readonly path: RegExp
  readonly methods: readonly string[]
  /**
   * What anybody can make us write without a password, each write a commit of its own in the queue
   * that revocations wait in: requests for a sign-in, answers to its page, and old tokens to sign out.
   */
  readonly counted?: Counted
  /** What people see; everything else is asked by programs. */
  readonly isForPeople?: boolean
  /** What stays true of a suspended tenant: its keys, its looks, and that people may sign out. */
  readonly holdsWhileSuspended?: boolean
}

const READ = ['GET', 'HEAD'] as const
const SENT = ['POST'] as const
const PAGE = [...READ, ...SENT] as const
/** Scripts of the application may ask, after a preflight. */
const shared = (methods: readonly string[]) => [...methods, 'OPTIONS']

const AUTHORIZE = { counted: 'authorize', isForPeople: true } as const
/** On which machine a sign-in is: each writes, for a browser that has given a password. */
const DEVICE = { counted: 'device', isForPeople: true } as const
const SIGN_OUT = { counted: 'logout', isForPeople: true, holdsWhileSuspended: true } as const
const SIGN_IN_PATH = /^\/sign-in\/[A-Za-z0-9_-]{20,64}$/
/** What a mail leads to. */
const SIGN_IN_MAIL_PATH = /^\/sign-in\/[A-Za-z0-9_-]{20,64}\/email$/
/** To an account that is made there. */
const SIGN_UP_PATH = /^\/sign-in\/[A-Za-z0-9_-]{20,64}\/sign-up$/
/** Each leads to somebody else's server, or asks it. */
const CONNECTION = { methods: ['GET'], counted: 'signIn', isForPeople: true } as const
const SIGNED_OUT_PATH = /^\/connections\/con_[0-9a-f]{32}\/signed-out$/
/** By a provider, which shows a token that it has signed. */
const BACK_CHANNEL_PATH = /^\/connections\/con_[0-9a-f]{32}\/back-channel-logout$/
const DISCOVERY_PATH = /^\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/

const ROUTES: readonly RealmRoute[] = [
  { path: /^\/authorize$/, methods: PAGE, ...AUTHORIZE },
  { path: /^\/authorize\/[A-Za-z0-9_-]{20,64}$/, methods: READ, ...AUTHORIZE },
  { path: SIGN_IN_PATH, methods: READ, isForPeople: true },
  { path: SIGN_IN_PATH, methods: SENT, counted: 'signIn', isForPeople: true },
  { path: SIGN_IN_MAIL_PATH, methods: READ, isForPeople: true },
  { path: SIGN_IN_MAIL_PATH, methods: SENT, counted: 'signIn', isForPeople: true },
  { path: SIGN_UP_PATH, methods: READ, isForPeople: true },
  { path: SIGN_UP_PATH, methods: SENT, counted: 'signIn', isForPeople: true },
  { path: /^\/sign-in\/[A-Za-z0-9_-]{20,64}\/device$/, methods: ['GET'], ...DEVICE },
  { path: /^\/sign-in\/[A-Za-z0-9_-]{20,64}\/device\/state$/, methods: ['GET'] },
  { path: /^\/sign-in\/[A-Za-z0-9_-]{20,64}\/connection\/con_[0-9a-f]{32}$/, ...CONNECTION },
  { path: /^\/connections\/con_[0-9a-f]{32}\/(?:callback|test)$/, ...CONNECTION },
  { path: SIGNED_OUT_PATH, methods: ['GET'], ...SIGN_OUT },
  { path: BACK_CHANNEL_PATH, methods: SENT, counted: 'logout', holdsWhileSuspended: true },
  { path: /^\/connections\/con_[0-9a-f]{32}\/acs$/, ...CONNECTION, methods: SENT },
  { path: /^\/connections\/con_[0-9a-f]{32}\/metadata$/, methods: READ },
  { path: /^\/device\/confirm$/, methods: ['GET'], ...DEVICE },
  { path: /^\/device\.js$/, methods: ['GET'] },
  { path: /^\/account(?:\/[a-z-]{1,40})?$/, methods: READ, isForPeople: true },
  { path: /^\/account\/[a-z-]{1,40}$/, methods: SENT, counted: 'account', isForPeople: true },
  { path: /^\/logout$/, methods: PAGE, ...SIGN_OUT },
  { path: /^\/logout\/confirm$/, methods: SENT, ...SIGN_OUT },
  { path: /^\/logo$/, methods: READ, holdsWhileSuspended: true },
  { path: /^\/passkey\.js$/, methods: READ },
  { path: /^\/own-sessions$/, methods: SENT },
  { path: /^\/token$/, methods: shared(SENT) },
  { path: /^\/userinfo$/, methods: shared(PAGE) },
  { path: /^\/jwks$/, methods: shared(READ), holdsWhileSuspended: true },
  { path: DISCOVERY_PATH, methods: shared(READ), holdsWhileSuspended: true },
]

export function realmRouteOf(method: string, path: string): RealmRoute | undefined {
  return ROUTES.find((route) => route.methods.includes(method) && route.path.test(path))
}

/** As it is called in traces: nothing of the address that was asked. */
export const wayOf = ({ path }: RealmRoute): string =>
  path.source
    .replace(/^\^|\$$/g, '')
    .replaceAll('\\/', '/')
    .replaceAll('\\.', '.')
    .replaceAll('[A-Za-z0-9_-]{20,64}', ':uid')
    .replaceAll('con_[0-9a-f]{32}', ':connection')
    .replaceAll('[a-z-]{1,40}', ':page')

/** What people see of an address, whatever they do there. */
export function isForPeople(path: string): boolean {
  return /^\/(?:authorize|sign-in|connections|device|logout|account)(?:\/|$)/i.test(path)
}

const PARAMETER_BYTES_MAX: Readonly<Record<string, number>> = {
  state: LIMITS.authorizeStateBytesMax,
  nonce: LIMITS.authorizeStateBytesMax,
  redirect_uri: LIMITS.authorizeRedirectBytesMax,
  claims: LIMITS.authorizeStateBytesMax,
  id_token_hint: LIMITS.sessionTokenReadBytesMax,
}

/** Which part of a request for a sign-in is longer than anybody needs: all of it is kept for an hour. */
export function tooLongIn(query: string): string | undefined {
  if (query.length > LIMITS.targetBytesMax)
    return `the request is longer than ${LIMITS.targetBytesMax} bytes`
  let keptBytes = 0
  for (const [name, value] of new URLSearchParams(query)) {
    const isKnown = Object.hasOwn(PARAMETER_BYTES_MAX, name)
    const most = (isKnown && PARAMETER_BYTES_MAX[name]) || LIMITS.authorizeParameterBytesMax
    if (Buffer.byteLength(value) > most)
      return isKnown || /^[a-z_]{1,30}$/.test(name)
        ? `${name} is longer than ${most} bytes`
        : `a parameter is longer than ${most} bytes`
    if (name !== 'id_token_hint') keptBytes += Buffer.byteLength(JSON.stringify(value))
  }
  return keptBytes > LIMITS.authorizeKeptBytesMax
    ? `all parameters together are longer than ${LIMITS.authorizeKeptBytesMax} bytes`
    : undefined
}
