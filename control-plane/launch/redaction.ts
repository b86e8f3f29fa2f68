/** What may leave the house of whoever asks for help: nothing that opens anything, and nobody's address. */

const GONE = '[removed]'

/** What says of itself that a secret comes behind it. */
const NAMED = String.raw`\b\w*(?:password|passwd|secret|token|api_?key|authorization)\\*["']?\s*[:=]\s*`

/**
 * Of what form secrets are that we make, and what carries those of others. Bounded where a stranger's
 * long line would be looked through from each of its characters.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\beyJ[\w-]{5,2000}\.[\w-]*\.?[\w-]*/g, GONE], // tokens
  [/\b(?:gwk|sak|scim|scs|sct|sdc|sdt|sms|whsec)_[\w-]{12,}/g, GONE],
  [/(\b(?:Bearer|Basic|Digest) +)[\w.~+/=-]{6,}/gi, `$1${GONE}`],
  [/(\b(?:set-)?cookie["']?\s*[:=]\s*)(?:\[[^\]\r\n]*\]|(["']?)[^"'\r\n]+)/gi, `$1$2${GONE}`],
  [/((?:__Host-|__Secure-)?\b(?:service|realm)_[\w-]+=)[^;\s"',\\]+/g, `$1${GONE}`],
  // in quotes, which may be escaped, up to where they end; and without
  [new RegExp(String.raw`(${NAMED}(\\*["']))(?:(?!\2)[^\r\n])+`, 'gi'), `$1${GONE}`],
  [new RegExp(String.raw`(${NAMED})[^"'\s,}\\]+`, 'gi'), `$1${GONE}`],
  [/([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/"]+@/gi, `$1${GONE}@`],
  [/(\/alert-emails\/stop\/)[^\s"'?\\]+/g, `$1${GONE}`],
  [
    /([?&](?:code|state|ticket|link|token|nonce|login_hint|id_token_hint)=)[^&\s"']+/gi,
    `$1${GONE}`,
  ],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?-----END [A-Z ]*PRIVATE KEY-----/g, GONE],
  [/[\p{L}\p{M}\p{N}_.+-]{1,64}@(?=[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+)/gu, `${GONE}@`],
]

const URL_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^:@/]*:([^@/]*)@/i
/** Of accounts at certificate authorities: `host=id:key`, several of them in one text. */
const ACCOUNT_KEY = /(?:^|\s)[^\s=:]+=[^\s:]+:([\w-]+)/g

/** What of it opens something by itself, as it is written and as it is meant. */
export function secretsWithin(secret: string): string[] {
  const [, password = ''] = URL_PASSWORD.exec(secret) ?? []
  return [
    password,
    decoded(password),
    ...[...secret.matchAll(ACCOUNT_KEY)].map(([, key = '']) => key),
  ]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `secrets`: those that are known, wherever they stand. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const whole = secrets.flatMap((secret) => [secret, ...secretsWithin(secret)])
  const known = whole.filter((secret) => secret.length > 3)
  const spelled = known.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
  ])
  // the longest first: another one may be a part of it
  const all = [...new Set(spelled)].sort((one, other) => other.length - one.length)
  return (text) => {
    const without = all.reduce((left, secret) => left.replaceAll(secret, GONE), text)
    return PATTERNS.reduce((left, [pattern, instead]) => left.replace(pattern, instead), without)
  }
}
