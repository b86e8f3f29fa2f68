/** What may leave the house of whoever asks for help: nothing that opens anything, and nobody's address. */

const GONE = '[removed]'

/** Of what form secrets are that we make, and what carries those of others. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\beyJ[\w-]{5,}\.[\w-]*\.?[\w-]*/g, GONE], // tokens
  [/\b(?:gwk|sak|scs|sct|sdc|sdt|whsec)_[\w-]{12,}/g, GONE],
  [/(\b(?:Bearer|Basic|Digest) +)[\w.~+/=-]{6,}/gi, `$1${GONE}`],
  [/(\b(?:set-)?cookie["']?\s*[:=]\s*["']?)[^"'\r\n]+/gi, `$1${GONE}`],
  [
    /(\b\w*(?:password|passwd|secret|token|api_?key|authorization)["']?\s*[:=]\s*["']?)[^"'\s,}]+/gi,
    `$1${GONE}`,
  ],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${GONE}@`],
  [
    /([?&](?:code|state|ticket|link|token|nonce|login_hint|id_token_hint)=)[^&\s"']+/gi,
    `$1${GONE}`,
  ],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?-----END [A-Z ]*PRIVATE KEY-----/g, GONE],
  [/[\w.+-]+@(?=[\w-]+(?:\.[\w-]+)+)/g, `${GONE}@`],
]

/** `secrets`: those that are known, wherever they stand. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret.length > 3)
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
