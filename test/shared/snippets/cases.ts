/**
 * What every snippet must take and refuse, whatever its language. A case says what is sent; the
 * name is what must hold.
 */
import { generateKeyPairSync, sign } from 'node:crypto'
import type { SigningKey } from '../../support/tokens.ts'
import { encode, newSigningKey, signHs256, signRaw, signRs256 } from '../../support/tokens.ts'

export interface Issuer {
  readonly base: string
  readonly nowSeconds: number
  /** The tenant's, which the application has as a file. */
  readonly key: SigningKey
  readonly pem: string
}

/** Name and value in turn, as undici takes them: a name may come twice. */
export type Lines = readonly string[]

export type Case = readonly [what: string, lines: (by: Issuer) => Lines]

const foreign = newSigningKey('foreign')
const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const edwards = generateKeyPairSync('ed25519')

export const NONCE = 'a-nonce_of-the-probe'

const headerBy = (by: Issuer) => ({ alg: 'RS256', kid: by.key.kid, typ: 'JWT' })
const claimsBy = (by: Issuer) => ({
  iss: `${by.base}/auth/realms/acme`,
  aud: 'acme-user',
  sub: 'usr_1',
  sid: 'session-1',
  name: 'Ada',
  iat: by.nowSeconds - 10,
  exp: by.nowSeconds + 600,
})
const probeHeaderBy = (by: Issuer) => ({ ...headerBy(by), typ: 'service-probe+jwt' })
const probeClaimsBy = (by: Issuer) => ({
  iss: `${by.base}/auth/realms/acme`,
  aud: 'acme-user',
  nonce: NONCE,
  iat: by.nowSeconds,
  exp: by.nowSeconds + 60,
})

type Changes = Record<string, unknown>

/** `undefined` leaves the member out. */
export function claimsOf(by: Issuer, claims: Changes = {}, header: Changes = {}): string {
  return signRs256(by.key, { ...headerBy(by), ...header }, { ...claimsBy(by), ...claims })
}

export function probeOf(by: Issuer, claims: Changes = {}, header: Changes = {}): string {
  return signRs256(by.key, { ...probeHeaderBy(by), ...header }, { ...probeClaimsBy(by), ...claims })
}

export const carrying = (token: string): Lines => ['x-service-claims', token]
const asking = (probe: string): Lines => ['x-service-probe', probe]

const claims = (change: (by: Issuer) => Changes) => (by: Issuer) =>
  carrying(claimsOf(by, change(by)))
const header = (change: (by: Issuer) => Changes) => (by: Issuer) =>
  carrying(claimsOf(by, {}, change(by)))
const token = (build: (by: Issuer) => string) => (by: Issuer) => carrying(build(by))
const probe = (build: (by: Issuer) => string) => (by: Issuer) => asking(build(by))

export const ACCEPTED: readonly Case[] = [
  ['a true claim', token(claimsOf)],
  ['typ is optional', header(() => ({ typ: undefined }))],
  ['the issuer is ahead by half a minute', claims((by) => ({ iat: by.nowSeconds + 30 }))],
  ['claims that nobody knows', claims(() => ({ groups: ['a'], constructor: 1 }))],
  [
    'headers that are only said to be verified',
    (by) => [
      ...carrying(claimsOf(by)),
      ...['x-service-user', 'usr_2', 'x-service-verified', 'false'],
    ],
  ],
]

/**
 * What our own reader refuses and some library takes. Each is harmless: only the tenant's key can
 * have signed it, for this audience, and it never signs such a thing.
 */
export const EITHER: readonly Case[] = [
  [
    'a name that is no UTF-8',
    token((by) => {
      const [before = '', after = ''] = JSON.stringify(claimsBy(by)).split('Ada')
      const bytes = Buffer.concat([
        Buffer.from(`${before}A`),
        Buffer.of(0xc3, 0x28),
        Buffer.from(after),
      ])
      return signRaw(by.key, `${encode(headerBy(by))}.${bytes.toString('base64url')}`)
    }),
  ],
  [
    'a claim twice',
    token((by) => {
      const twice = JSON.stringify(claimsBy(by)).replace('{', '{"name":"Eve",')
      return signRs256(by.key, headerBy(by), twice)
    }),
  ],
  ['an expiry in digits', claims((by) => ({ exp: String(by.nowSeconds + 600) }))],
  ['an expiry that is a fraction', claims((by) => ({ exp: by.nowSeconds + 600.5 }))],
  ['a time of issue that is a fraction', claims((by) => ({ iat: by.nowSeconds - 0.5 }))],
  ['an expiry beyond all integers', claims(() => ({ exp: 1e300 }))],
  ['an audience in a list', claims(() => ({ aud: ['acme-user'] }))],
  ['valid only later', claims((by) => ({ nbf: by.nowSeconds + 300 }))],
  ['a subject with a line break', claims(() => ({ sub: 'usr_1\r\nX-Service-Verified: 1' }))],
  [
    'the right key, and another that comes along',
    header(() => ({ jwk: foreign.publicKey.export({ format: 'jwk' }), x5c: ['MII'] })),
  ],
  [
    'bits of the signature that say nothing',
    token((by) => {
      const token = claimsOf(by)
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      return token.slice(0, -1) + (alphabet[alphabet.indexOf(token.slice(-1)) ^ 1] ?? '')
    }),
  ],
  [
    'another spelling of the header beside it',
    (by) => [...carrying(claimsOf(by)), 'X_Service_Claims', forgedBy(by)],
  ],
  ['only another spelling of the header', (by) => ['X_Service_Claims', claimsOf(by)]],
]

export const REFUSED: readonly Case[] = [
  ['nothing at all', () => []],
  ['an empty header', () => carrying('')],
  ['only the name of a user', () => ['x-service-user', 'usr_1', 'x-service-verified', 'true']],
  ['a bearer token', (by) => ['authorization', `Bearer ${claimsOf(by)}`]],
  ['a session cookie', (by) => ['cookie', `service_session=${claimsOf(by)}`]],
  ['the same header twice', (by) => [...carrying(claimsOf(by)), ...carrying(claimsOf(by))]],
  [
    'a second header that is forged',
    (by) => [...carrying(claimsOf(by)), ...carrying(forgedBy(by))],
  ],
  ['a second header that is empty', (by) => [...carrying(claimsOf(by)), ...carrying('')]],

  ['a foreign signature', token(forgedBy)],
  [
    'the key of another tenant',
    token((by) => signRs256(foreign, { ...headerBy(by), kid: foreign.kid }, claimsBy(by))),
  ],
  [
    'a key that comes along',
    header(() => ({
      kid: foreign.kid,
      jwk: foreign.publicKey.export({ format: 'jwk' }),
    })),
  ],
  ['a key that is to be fetched', header((by) => ({ kid: foreign.kid, jku: `${by.base}/jku` }))],
  ...['__proto__', 'constructor', '../../dev/null', '', ' ', "' or 1=1--", 1, null, [], {}].map(
    (kid): Case => [`a key named ${JSON.stringify(kid)}`, header(() => ({ kid }))],
  ),
  ['no name of a key', header(() => ({ kid: undefined }))],
  [
    'a changed payload',
    token((by) => {
      const [head, , signature] = claimsOf(by).split('.')
      return `${head}.${encode({ ...claimsBy(by), name: 'Eve' })}.${signature}`
    }),
  ],
  ...[0, 100, 255].map((at): Case => [
    `a signature changed at byte ${at}`,
    token((by) => withSignature(by, (bytes) => bytes.with(at, (bytes[at] ?? 0) ^ 1))),
  ]),
  ['the signature 1', token((by) => withSignature(by, (bytes) => bytes.fill(0).with(255, 1)))],
  ['half a signature', token((by) => withSignature(by, (bytes) => bytes.subarray(0, 128)))],
  ['no signature', token((by) => claimsOf(by).replace(/[^.]+$/, ''))],

  ...['none', 'None', 'NONE', 'none ', '', null, undefined].flatMap((alg): Case[] => [
    [
      `alg ${JSON.stringify(alg)}, unsigned`,
      token((by) => `${encode({ ...headerBy(by), alg })}.${encode(claimsBy(by))}.`),
    ],
    [`alg ${JSON.stringify(alg)}, signed`, header(() => ({ alg }))],
  ]),
  ...['rs256', 'RS256 ', 'RS384', 'PS256', 'HS256', 'EdDSA', ['RS256'], 1].map((alg): Case => [
    `alg ${JSON.stringify(alg)} over an RS256 signature`,
    header(() => ({ alg })),
  ]),
  [
    'RS384 by the right key',
    token((by) =>
      signRaw(
        by.key,
        `${encode({ ...headerBy(by), alg: 'RS384' })}.${encode(claimsBy(by))}`,
        'sha384',
      ),
    ),
  ],
  [
    'an SHA-1 signature',
    token((by) => signRaw(by.key, `${encode(headerBy(by))}.${encode(claimsBy(by))}`, 'sha1')),
  ],
  ...(['pem', 'trimmed', 'crlf', 'der', 'empty'] as const).flatMap((form): Case[] =>
    ['HS256', 'RS256'].map((alg) => [
      `the public key as a secret (${form}), alg ${alg}`,
      token((by) => signHs256(secretOf(by, form), { ...headerBy(by), alg }, claimsBy(by))),
    ]),
  ),
  [
    'ES256 by a foreign key',
    token((by) => {
      const input = `${encode({ ...headerBy(by), alg: 'ES256' })}.${encode(claimsBy(by))}`
      const key = { key: elliptic.privateKey, dsaEncoding: 'ieee-p1363' } as const
      return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`
    }),
  ],
  [
    'ES256 by nobody',
    token(
      (by) =>
        `${encode({ ...headerBy(by), alg: 'ES256' })}.${encode(claimsBy(by))}.${'A'.repeat(86)}`,
    ),
  ],
  [
    'EdDSA by a foreign key',
    token((by) => {
      const input = `${encode({ ...headerBy(by), alg: 'EdDSA' })}.${encode(claimsBy(by))}`
      return `${input}.${sign(null, Buffer.from(input), edwards.privateKey).toString('base64url')}`
    }),
  ],

  ...['at+jwt', 'logout+jwt', 'service-probe+jwt', 'jwt', '', null, 1, ['JWT']].map((typ): Case => [
    `typ ${JSON.stringify(typ)}`,
    header(() => ({ typ })),
  ]),
  ...[[], ['exp'], ['b64'], null].map((crit): Case => [
    `crit ${JSON.stringify(crit)}`,
    header(() => ({ crit, b64: true })),
  ]),

  ['expired long ago', claims((by) => ({ iat: by.nowSeconds - 900, exp: by.nowSeconds - 300 }))],
  ['expired this moment', claims((by) => ({ exp: by.nowSeconds }))],
  ['no expiry', claims(() => ({ exp: undefined }))],
  ['an expiry that is null', claims(() => ({ exp: null }))],
  ['an expiry in words', claims(() => ({ exp: 'never' }))],
  ['an expiry that is a list', claims((by) => ({ exp: [by.nowSeconds + 600] }))],
  ['issued five minutes ahead', claims((by) => ({ iat: by.nowSeconds + 300 }))],
  ['issued in milliseconds', claims((by) => ({ iat: by.nowSeconds * 1000 }))],
  ['no time of issue', claims(() => ({ iat: undefined }))],
  ['a time of issue in words', claims(() => ({ iat: 'now' }))],

  ['the issuer is another realm', claims((by) => ({ iss: `${by.base}/auth/realms/other` }))],
  ['the issuer with a slash', claims((by) => ({ iss: `${by.base}/auth/realms/acme/` }))],
  [
    'the issuer by https',
    claims((by) => ({
      iss: `${by.base.replace('http:', 'https:')}/auth/realms/acme`,
    })),
  ],
  ['the issuer in capitals', claims((by) => ({ iss: `${by.base}/AUTH/realms/acme` }))],
  ['the issuer in a list', claims((by) => ({ iss: [`${by.base}/auth/realms/acme`] }))],
  ['no issuer', claims(() => ({ iss: undefined }))],
  ...['other-user', 'acme-user-x', 'acme-use', 'ACME-user', '', null, undefined, true, []].map(
    (aud): Case => [`the audience ${JSON.stringify(aud)}`, claims(() => ({ aud }))],
  ),
  ['the audience is us and another', claims(() => ({ aud: ['acme-user', 'other-user'] }))],
  ...[undefined, null, '', 1, ['usr_1'], { id: 1 }, true].flatMap((value): Case[] => [
    [`the subject ${JSON.stringify(value)}`, claims(() => ({ sub: value }))],
    [`the session ${JSON.stringify(value)}`, claims(() => ({ sid: value }))],
  ]),

  ...['[]', 'null', '1', '"usr_1"', '{', '', '{"sub":"usr_1"'].map((payload): Case => [
    `the payload ${payload}`,
    token((by) => signRs256(by.key, headerBy(by), payload)),
  ]),
  ...['[]', 'null', '1', '"RS256"', '{', ''].map((head): Case => [
    `the header ${head}`,
    token((by) => signRs256(by.key, head, claimsBy(by))),
  ]),
  ['a token within a token', token((by) => signRs256(by.key, headerBy(by), claimsOf(by)))],
  [
    'a payload that is deflated',
    token((by) =>
      signRaw(by.key, `${encode({ ...headerBy(by), zip: 'DEF' })}.${'q1YqLU4tUrJSUqoFAA'}`),
    ),
  ],
  ...['..', '.', 'a', 'a.b', 'a.b.c', '....', 'null', '{}', '%00', 'A'.repeat(4000)].map(
    (text): Case => [`${text.slice(0, 10)} as a token`, () => carrying(text)],
  ),
  ['a token and more', token((by) => `${claimsOf(by)}.x`)],
  ['two tokens', token((by) => `${claimsOf(by)} ${claimsOf(by)}`)],
  ['a token in quotes', token((by) => `"${claimsOf(by)}"`)],
  ['a token after Bearer', token((by) => `Bearer ${claimsOf(by)}`)],
  ['padding', token((by) => `${claimsOf(by)}==`)],
  ['white space inside', token((by) => claimsOf(by).replace('.', ' .'))],
  ['the alphabet of plain base64', token(inPlainBase64)],
  [
    'JSON instead of a token',
    token((by) => {
      const [head, payload, signature] = claimsOf(by).split('.')
      return JSON.stringify({ protected: head, payload, signature })
    }),
  ],
  ['a probe', token(probeOf)],
  ['a probe that looks like a session', token((by) => probeOf(by, claimsBy(by)))],
]

export const ANSWERED: readonly Case[] = [
  ['a true probe', probe(probeOf)],
  ['a true probe, and nobody signed in', (by) => [...asking(probeOf(by)), ...carrying('')]],
  ['a true probe beside a session', (by) => [...carrying(claimsOf(by)), ...asking(probeOf(by))]],
]

export const UNANSWERED: readonly Case[] = [
  ['an empty probe', () => asking('')],
  [
    'a probe of a foreign key',
    probe((by) => signRs256(foreign, probeHeaderBy(by), probeClaimsBy(by))),
  ],
  [
    'a forged probe beside a session',
    (by) => [
      ...carrying(claimsOf(by)),
      ...asking(signRs256(foreign, probeHeaderBy(by), probeClaimsBy(by))),
    ],
  ],
  ['a probe twice', (by) => [...asking(probeOf(by)), ...asking(probeOf(by))]],
  [
    'an unsigned probe',
    probe((by) => `${encode({ ...probeHeaderBy(by), alg: 'none' })}.${encode(probeClaimsBy(by))}.`),
  ],
  [
    'a probe by the public key as a secret',
    probe((by) => signHs256(by.pem, { ...probeHeaderBy(by), alg: 'HS256' }, probeClaimsBy(by))),
  ],
  ['a probe of another realm', probe((by) => probeOf(by, { iss: `${by.base}/auth/realms/other` }))],
  ['a probe for another tenant', probe((by) => probeOf(by, { aud: 'other-user' }))],
  [
    'a probe of yesterday',
    probe((by) => probeOf(by, { iat: by.nowSeconds - 86_460, exp: by.nowSeconds - 86_400 })),
  ],
  ['a probe for an hour', probe((by) => probeOf(by, { exp: by.nowSeconds + 3600 }))],
  [
    'a probe of five minutes ahead',
    probe((by) => probeOf(by, { iat: by.nowSeconds + 300, exp: by.nowSeconds + 360 })),
  ],
  ['a probe without end', probe((by) => probeOf(by, { exp: undefined }))],
  ...[undefined, null, '', 1, ['n'], {}].map((nonce): Case => [
    `a probe with the nonce ${JSON.stringify(nonce)}`,
    probe((by) => probeOf(by, { nonce })),
  ]),
  ['a session', (by) => asking(claimsOf(by))],
  ['a session with a nonce', (by) => asking(claimsOf(by, { nonce: NONCE }))],
  ...[undefined, 'JWT', 'SERVICE-PROBE+JWT', 'application/service-probe+jwt'].map((typ): Case => [
    `a probe of typ ${typ}`,
    probe((by) => probeOf(by, {}, { typ })),
  ]),
]

function forgedBy(by: Issuer): string {
  return signRs256(foreign, headerBy(by), { ...claimsBy(by), name: 'Eve' })
}

function inPlainBase64(by: Issuer): string {
  for (let number = 0; ; number++) {
    const [head, payload, signature = ''] = claimsOf(by, { number }).split('.')
    const plain = signature.replaceAll('-', '+').replaceAll('_', '/')
    if (plain !== signature) return `${head}.${payload}.${plain}`
  }
}

function withSignature(by: Issuer, change: (bytes: Uint8Array) => Uint8Array): string {
  const [head, payload, signature = ''] = claimsOf(by).split('.')
  const bytes = change(new Uint8Array(Buffer.from(signature, 'base64url')))
  return `${head}.${payload}.${Buffer.from(bytes).toString('base64url')}`
}

function secretOf(by: Issuer, form: 'pem' | 'trimmed' | 'crlf' | 'der' | 'empty') {
  const forms = {
    pem: by.pem,
    trimmed: by.pem.trim(),
    crlf: by.pem.replaceAll('\n', '\r\n'),
    der: by.key.publicKey.export({ type: 'spki', format: 'der' }),
    empty: '',
  }
  return forms[form]
}
