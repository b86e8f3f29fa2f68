/**
 * How the hashes that people have are written down. One entry per spelling; what fits none, or
 * asks for more than a sign-in may cost, is not a hash that we can check.
 */
import { isAffordable, type HashShape, type KnownHash } from './hash-shapes.ts'

const ENCODED_CHARACTERS_MAX = 1024

/** The parameters of a shape, without the lengths, which come from salt and tag. */
type Parameters = HashShape extends infer Shape
  ? Shape extends HashShape
    ? Omit<Shape, 'saltBytes' | 'tagBytes'>
    : never
  : never

interface Format {
  /** Named groups, so that the order in which a spelling has them does not matter. */
  readonly pattern: RegExp
  readonly parameters: (groups: Groups) => Parameters
  readonly salt: (text: string) => Buffer
  readonly tag: (text: string) => Buffer
}

type Groups = Readonly<Record<string, string>>

const utf8 = (text: string) => Buffer.from(text, 'utf8')
const hex = (text: string) => Buffer.from(text, 'hex')
/** Also passlib's own, which has "." for "+". */
const base64 = (text: string) => Buffer.from(text.replaceAll('.', '+'), 'base64')

const DIGESTS: Readonly<Record<string, 'sha1' | 'sha256' | 'sha512'>> = {
  sha1: 'sha1',
  sha256: 'sha256',
  sha512: 'sha512',
}

const argon2 = ({ variant, m, t, p }: Groups): Parameters => ({
  kind: 'argon2',
  variant: variant as 'argon2id',
  memoryKib: Number(m),
  passes: Number(t),
  lanes: Number(p),
})
const bcrypt =
  (isDigested: boolean) =>
  ({ cost }: Groups): Parameters => ({ kind: 'bcrypt', cost: Number(cost), isDigested })
const scrypt = ({ n, ln, r, p }: Groups): Parameters => ({
  kind: 'scrypt',
  rounds: ln === undefined ? Number(n) : 2 ** Number(ln),
  blockSize: Number(r),
  lanes: Number(p),
})
const pbkdf2 = ({ digest = 'sha1', rounds }: Groups): Parameters => ({
  kind: 'pbkdf2',
  digest: DIGESTS[digest] ?? 'sha1',
  rounds: Number(rounds),
})

const FORMATS: readonly Format[] = [
  // PHC strings, and Django's with its name before them
  {
    pattern:
      /^(?:argon2)?\$(?<variant>argon2(?:id|i|d))\$v=19\$m=(?<m>\d{1,8}),t=(?<t>\d{1,4}),p=(?<p>\d{1,3})\$(?<salt>[A-Za-z0-9+/]+)\$(?<tag>[A-Za-z0-9+/]+)$/,
    parameters: argon2,
    salt: base64,
    tag: base64,
  },
  // crypt(3), and Django's with its name before it
  {
    pattern:
      /^(?:bcrypt\$)?\$2[aby]\$(?<cost>\d\d)\$(?<salt>[./A-Za-z0-9]{22})(?<tag>[./A-Za-z0-9]{31})$/,
    parameters: bcrypt(false),
    salt: utf8,
    tag: utf8,
  },
  {
    pattern:
      /^bcrypt_sha256\$\$2[aby]\$(?<cost>\d\d)\$(?<salt>[./A-Za-z0-9]{22})(?<tag>[./A-Za-z0-9]{31})$/,
    parameters: bcrypt(true),
    salt: utf8,
    tag: utf8,
  },
  // PHC and passlib
  {
    pattern:
      /^\$scrypt\$ln=(?<ln>\d{1,2}),r=(?<r>\d{1,4}),p=(?<p>\d{1,4})\$(?<salt>[A-Za-z0-9+/.]+)\$(?<tag>[A-Za-z0-9+/.]+)$/,
    parameters: scrypt,
    salt: base64,
    tag: base64,
  },
  // Django
  {
    pattern:
      /^scrypt\$(?<n>\d{1,8})\$(?<salt>[^$]+)\$(?<r>\d{1,4})\$(?<p>\d{1,4})\$(?<tag>[A-Za-z0-9+/]+={0,2})$/,
    parameters: scrypt,
    salt: utf8,
    tag: base64,
  },
  // Werkzeug (Flask)
  {
    pattern:
      /^scrypt:(?<n>\d{1,8}):(?<r>\d{1,4}):(?<p>\d{1,4})\$(?<salt>[^$]+)\$(?<tag>(?:[0-9a-f]{2})+)$/,
    parameters: scrypt,
    salt: utf8,
    tag: hex,
  },
  // Django
  {
    pattern:
      /^pbkdf2_(?<digest>sha1|sha256|sha512)\$(?<rounds>\d{1,8})\$(?<salt>[^$]+)\$(?<tag>[A-Za-z0-9+/]+={0,2})$/,
    parameters: pbkdf2,
    salt: utf8,
    tag: base64,
  },
  // Werkzeug
  {
    pattern:
      /^pbkdf2:(?<digest>sha1|sha256|sha512):(?<rounds>\d{1,8})\$(?<salt>[^$]+)\$(?<tag>(?:[0-9a-f]{2})+)$/,
    parameters: pbkdf2,
    salt: utf8,
    tag: hex,
  },
  // passlib, where no digest means SHA-1
  {
    pattern:
      /^\$pbkdf2(?:-(?<digest>sha256|sha512))?\$(?<rounds>\d{1,8})\$(?<salt>[A-Za-z0-9+/.]+)\$(?<tag>[A-Za-z0-9+/.]+)$/,
    parameters: pbkdf2,
    salt: base64,
    tag: base64,
  },
  // PHC
  {
    pattern:
      /^\$pbkdf2-(?<digest>sha1|sha256|sha512)\$i=(?<rounds>\d{1,8})(?:,l=\d{1,3})?\$(?<salt>[A-Za-z0-9+/]+)\$(?<tag>[A-Za-z0-9+/]+)$/,
    parameters: pbkdf2,
    salt: base64,
    tag: base64,
  },
]

export const KNOWN_KINDS = 'argon2id, argon2i, argon2d, bcrypt, scrypt or pbkdf2'

export function parseHash(encoded: string): KnownHash | undefined {
  if (encoded.length > ENCODED_CHARACTERS_MAX) return undefined
  for (const format of FORMATS) {
    const groups = format.pattern.exec(encoded)?.groups
    if (groups === undefined) continue
    const salt = format.salt(groups.salt ?? '')
    const tag = format.tag(groups.tag ?? '')
    const lengths = { saltBytes: salt.length, tagBytes: tag.length }
    const shape: HashShape = { ...format.parameters(groups), ...lengths }
    return isAffordable(shape) ? { shape, salt, tag } : undefined
  }
  return undefined
}
