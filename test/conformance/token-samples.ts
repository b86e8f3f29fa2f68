/** How each sample of a token is made. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { encode, newSigningKey, signHs256, signRaw, signRs256 } from '../support/tokens.ts'
import type { Received } from './case.ts'
import { CURRENT, NEXT, type World } from './world.ts'

/** One way to carry out a sample: a Cookie header, and why it is refused, or that it is taken. */
export interface Variant {
  readonly name?: string
  readonly cookie: string
  readonly refused?: string
  readonly accepted?: Partial<Received>
  readonly lines?: readonly string[]
  readonly target?: string
  readonly userAgent?: string
}

export type Samples = Readonly<Record<string, readonly Variant[]>>

const FOREIGN = newSigningKey('current')
const SHORT = newSigningKey('current', 1024)
const HEADER = { alg: 'RS256', kid: 'current', typ: 'JWT' }
const ED25519 = generateKeyPairSync('ed25519')

export function samplesOf(world: World): Samples {
  const maker = createMaker(world)
  return { ...signatureSamples(maker), ...claimSamples(maker), ...formSamples(maker) }
}

type Maker = ReturnType<typeof createMaker>

/** What most samples are made of: a good token, and one thing about it that is not. */
function createMaker(world: World) {
  const now = world.nowSeconds()
  const good = {
    iss: world.service.issuer,
    aud: 'app-user',
    sub: 'ada',
    sid: 'sid-1',
    iat: now - 10,
    exp: now + 600,
  }
  const seen = (sid = 'sid-1') => `service_seen=${world.service.seenOf({ sid })}`
  const cookieOf = (token: string) => `service_session=${token}; ${seen()}`
  const signed = (header: unknown = HEADER, claims: unknown = good, key = CURRENT) =>
    cookieOf(signRs256(key, header, claims))
  const accepted = { user: 'ada' }
  const header = (change: object, refused: string, name = JSON.stringify(change)): Variant => ({
    name,
    cookie: signed({ ...HEADER, ...change }),
    refused,
  })
  const claims = (change: object, refused = 'claims_malformed'): Variant => ({
    name: JSON.stringify(change),
    cookie: signed(HEADER, { ...good, ...change }),
    refused,
  })
  const raw = (name: string, cookie: string, refused = 'token_malformed'): Variant => ({
    name,
    cookie,
    refused,
  })
  const token = signRs256(CURRENT, HEADER, good)
  const [head = '', body = '', signature = ''] = token.split('.')
  const bytes = Buffer.from(signature, 'base64url')
  const withSignature = (changed: Buffer, name?: string): Variant => ({
    ...(name !== undefined && { name }),
    cookie: cookieOf(`${head}.${body}.${changed.toString('base64url')}`),
    refused: 'signature_wrong',
  })
  return {
    world,
    now,
    good,
    seen,
    cookieOf,
    signed,
    accepted,
    header,
    claims,
    raw,
    token,
    head,
    body,
    signature,
    bytes,
    withSignature,
  }
}

/** Algorithms, signatures, keys, and headers that bring or change one. */
function signatureSamples(maker: Maker): Samples {
  const {
    world,
    good,
    cookieOf,
    signed,
    accepted,
    header,
    raw,
    token,
    head,
    body,
    bytes,
    withSignature,
  } = maker
  const unsigned = (alg: string): readonly Variant[] => {
    const input = `${encode({ ...HEADER, alg })}.${encode(good)}`
    return [
      raw('empty signature', cookieOf(`${input}.`)),
      raw('some signature', cookieOf(`${input}.AAAA`), 'algorithm_refused'),
    ]
  }
  const confused = (secret: string | Buffer, name: string): readonly Variant[] => [
    raw(name, cookieOf(signHs256(secret, { ...HEADER, alg: 'HS256' }, good)), 'algorithm_refused'),
    raw(`${name}, as RS256`, cookieOf(signHs256(secret, HEADER, good)), 'signature_wrong'),
  ]
  const pem = CURRENT.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const jwk = CURRENT.publicKey.export({ format: 'jwk' })
  const edInput = `${encode({ ...HEADER, alg: 'EdDSA' })}.${encode(good)}`
  const one = Buffer.alloc(256)
  one[255] = 1
  const deflated = deflateRawSync(JSON.stringify(good)).toString('base64url')
  return {
    ok: [{ cookie: signed(), accepted: { user: 'ada', claims: token, verified: 'true' } }],
    'ok-next-kid': [{ cookie: signed({ ...HEADER, kid: 'next' }, good, NEXT), accepted }],
    'ok-typ-absent': [{ cookie: signed({ alg: 'RS256', kid: 'current' }), accepted }],
    'alg-none': unsigned('none'),
    'alg-none-87': unsigned('None'),
    'alg-none-95': unsigned('NONE'),
    'alg-none-7': unsigned('none '),
    'hs256-pubkey-pem': [
      ...confused(pem, 'PEM'),
      ...confused(pem.trim(), 'PEM without its last line end'),
      ...confused(pem.replaceAll('\n', '\r\n'), 'PEM with CRLF'),
      ...confused(CURRENT.publicKey.export({ type: 'spki', format: 'der' }), 'DER'),
      ...confused(JSON.stringify(jwk), 'JWK'),
      ...confused(Buffer.from(jwk.n ?? '', 'base64url'), 'modulus'),
      ...confused('', 'nothing'),
    ],
    rs384: [
      raw(
        'RS384',
        cookieOf(
          signRaw(CURRENT, `${encode({ ...HEADER, alg: 'RS384' })}.${encode(good)}`, 'sha384'),
        ),
        'algorithm_refused',
      ),
      raw(
        'RS384 that says RS256',
        cookieOf(signRaw(CURRENT, `${head}.${body}`, 'sha384')),
        'signature_wrong',
      ),
    ],
    'es256-psychic': [
      raw(
        'zeros',
        cookieOf(
          `${encode({ ...HEADER, alg: 'ES256' })}.${body}.${Buffer.alloc(64).toString('base64url')}`,
        ),
        'algorithm_refused',
      ),
      withSignature(Buffer.alloc(64), 'zeros that say RS256'),
    ],
    eddsa: [
      raw(
        'EdDSA',
        cookieOf(
          `${edInput}.${sign(null, Buffer.from(edInput), ED25519.privateKey).toString('base64url')}`,
        ),
        'algorithm_refused',
      ),
    ],
    'alg-array': [header({ alg: ['RS256'] }, 'algorithm_refused')],
    'alg-missing': [header({ alg: undefined }, 'algorithm_refused', 'none')],
    'alg-null': [header({ alg: null }, 'algorithm_refused')],
    'sig-bitflip': Array.from({ length: 32 }, (_, index) => {
      const flipped = Buffer.from(bytes)
      flipped[index * 8]! ^= 1 << (index % 8)
      return withSignature(flipped, `bit ${index % 8} of byte ${index * 8}`)
    }),
    'sig-one': [withSignature(one)],
    'sig-short': [
      withSignature(bytes.subarray(1), 'without its first byte'),
      withSignature(bytes.subarray(0, -1), 'without its last byte'),
    ],
    'key-1024': [
      raw('under a known kid', signed(HEADER, good, SHORT), 'signature_wrong'),
      raw('under its own kid', signed({ ...HEADER, kid: 'short' }, good, SHORT), 'key_unknown'),
    ],
    'kid-traversal': [
      raw(
        'HS256',
        cookieOf(signHs256('', { alg: 'HS256', kid: '../../../../dev/null' }, good)),
        'algorithm_refused',
      ),
      header({ kid: '../../../../dev/null' }, 'key_unknown'),
    ],
    'kid-proto': ['__proto__', 'constructor', 'toString', ''].map((kid) =>
      header({ kid }, 'key_unknown'),
    ),
    x5u: [
      header({ x5u: `${world.service.baseUrl}/cert` }, 'header_refused', 'x5u'),
      header({ jku: `${world.service.baseUrl}/keys` }, 'header_refused', 'jku'),
    ],
    x5c: [
      raw('x5c', signed({ ...HEADER, x5c: ['MII'] }, good, FOREIGN), 'header_refused'),
      raw(
        'jwk',
        signed({ ...HEADER, jwk: FOREIGN.publicKey.export({ format: 'jwk' }) }, good, FOREIGN),
        'header_refused',
      ),
    ],
    'crit-empty': [
      header({ crit: [] }, 'header_refused'),
      header({ crit: ['exp'] }, 'header_refused'),
    ],
    zip: [
      raw(
        'deflated',
        cookieOf(signRaw(CURRENT, `${encode({ ...HEADER, zip: 'DEF' })}.${deflated}`)),
        'header_refused',
      ),
    ],
  }
}

/** What a token says. */
function claimSamples(maker: Maker): Samples {
  const {
    world,
    now,
    good,
    seen,
    cookieOf,
    signed,
    accepted,
    claims,
    raw,
    token,
    head,
    body,
    signature,
  } = maker
  const rawClaims = JSON.stringify(good).slice(0, -1)
  const badUtf8 = Buffer.concat([
    Buffer.from(`${rawClaims},"x":"`),
    Buffer.from([0xff]),
    Buffer.from('"}'),
  ])
  return {
    'jws-json': [
      raw(
        'JSON',
        `service_session=${JSON.stringify({ payload: body, protected: head, signature })}; ${seen()}`,
      ),
    ],
    nested: [
      raw(
        'JWT in a JWT',
        cookieOf(signRs256(CURRENT, { ...HEADER, cty: 'JWT' }, token)),
        'claims_malformed',
      ),
    ],
    'segments-empty': ['..', '.', '...', ''].map((text) => raw(`«${text}»`, cookieOf(text))),
    'payload-array': [raw('[]', signed(HEADER, '[]'), 'claims_malformed')],
    'payload-null': [
      raw('null', signed(HEADER, 'null'), 'claims_malformed'),
      raw('1', signed(HEADER, '1'), 'claims_malformed'),
    ],
    // the last one wins, in the header as in the claims that any parser reads
    'payload-dup-claims': [
      { cookie: signed(HEADER, `${rawClaims},"sub":"admin"}`), accepted: { user: 'admin' } },
    ],
    'payload-proto': [
      { cookie: signed(HEADER, `${rawClaims},"__proto__":{"sub":"root","admin":true}}`), accepted },
    ],
    'payload-bad-utf8': [
      raw(
        '0xff',
        cookieOf(signRaw(CURRENT, `${head}.${badUtf8.toString('base64url')}`)),
        'claims_malformed',
      ),
    ],
    'sub-crlf': [claims({ sub: 'a\r\nX-Service-Verified: 1' }), claims({ sub: 'a b' })],
    'sub-unicode': [claims({ sub: 'zoë' }), claims({ sub: 'админ' }), claims({ sub: '🦊' })],
    'sub-confusable': [
      claims({ sub: 'adm\u0456n' }),
      claims({ sub: 'e\u0301' }),
      claims({ sub: '\u00e9' }),
    ],
    'sub-missing': [
      claims({ sub: undefined }),
      claims({ sub: '' }),
      claims({ sub: 1 }),
      claims({ sub: ['ada'] }),
    ],
    'exp-eq': [claims({ exp: now }, 'expired')],
    'exp-leeway': [claims({ exp: now - 4 }, 'expired')],
    'exp-float': [claims({ exp: now + 60.5 })],
    'nbf-string': [claims({ nbf: '0' })],
    'iat-future': [claims({ iat: now + 3600, exp: now + 7200 }, 'issued_ahead')],
    'iat-missing': [claims({ iat: undefined })],
    'iat-ms': [claims({ iat: now * 1000, exp: now * 1000 + 1 }, 'issued_ahead')],
    'max-session': [
      claims({ iat: now - 28_800 }, 'session_too_old'),
      claims({ iat: now - 28_801, auth_time: now }, 'session_too_old'),
    ],
    idle: [
      {
        cookie: `service_session=${token}; service_seen=${world.service.seenOf({ seenAgoSeconds: 901 })}`,
        refused: 'idle',
      },
    ],
    'iss-wrong': [
      good.iss.replace('/app', '/beta'),
      `${good.iss}/`,
      good.iss.replace('http:', 'https:'),
      good.iss.toUpperCase(),
      [good.iss],
    ].map((iss) => claims({ iss }, 'issuer_wrong')),
    'iss-missing': [claims({ iss: undefined }, 'issuer_wrong')],
    'aud-wrong': [
      claims({ aud: 'beta-user' }, 'audience_wrong'),
      claims({ aud: undefined }, 'audience_wrong'),
    ],
    'aud-array-contains': [claims({ aud: ['app-user', 'beta-user'] }, 'audience_wrong')],
    'aud-prefix': [
      claims({ aud: 'app-user-x' }, 'audience_wrong'),
      claims({ aud: 'app-use' }, 'audience_wrong'),
    ],
  }
}

/** Other tokens, other spellings, and other places than the cookie. */
function formSamples(maker: Maker): Samples {
  const { good, seen, cookieOf, header, claims, raw, token, head, body, signature } = maker
  const sibling = (text: string) => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    return text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1)!) ^ 1]!
  }
  const padded = (size: number) => {
    const length = (pad: number) =>
      signRs256(CURRENT, HEADER, { ...good, pad: 'x'.repeat(pad) }).length
    let pad = Math.floor((size - token.length) * 0.75)
    while (length(pad) <= size) pad++
    return cookieOf(signRs256(CURRENT, HEADER, { ...good, pad: 'x'.repeat(pad) }))
  }
  const purposes = ['logout+jwt', 'service-probe+jwt', 'service-install+jwt', 'state+jwt']
  return {
    // the session is the ID token of this very client; that of another one is none
    'id-token-as-session': [claims({ aud: 'other-client' }, 'audience_wrong')],
    'access-token-as-session': [header({ typ: 'at+jwt' }, 'header_refused')],
    'session-as-bearer': [
      { cookie: seen(), lines: [`Authorization: Bearer ${token}`], refused: 'no_session' },
    ],
    'other-purpose': purposes.map((typ) => header({ typ }, 'header_refused')),
    'typ-wrong': ['at+jwt', 'jwt', '', null, 1].map((typ) => header({ typ }, 'header_refused')),
    'b64-padding': [
      raw('header', cookieOf(`${head}=.${body}.${signature}`)),
      raw('payload', cookieOf(`${head}.${body}=.${signature}`)),
      raw('signature', cookieOf(`${token}=`)),
    ],
    'b64-std': [raw('standard alphabet', cookieOf(standard(CURRENT, good)))],
    'b64-trailing-bits': [raw('signature', cookieOf(`${head}.${body}.${sibling(signature)}`))],
    'b64-len1': [
      raw('signature', cookieOf(`${head}.${body}.A`)),
      raw('header', cookieOf(`A.${body}.${signature}`)),
    ],
    'size-4k': [raw('over 4096', padded(4096), 'token_too_long')],
    'cookie-pct': [
      raw('name', `service%5Fsession=${token}; ${seen()}`, 'no_session'),
      raw('value', `service_session=${token.replaceAll('.', '%2E')}; ${seen()}`),
      raw('case', `Service_Session=${token}; ${seen()}`, 'no_session'),
      raw('quotes', `service_session="${token}"; ${seen()}`),
    ],
    'cookie-malformed-authpass': [raw('%%%', cookieOf('%%%'))],
    'cookie-stripped': [
      {
        cookie: `theme=dark; ${cookieOf(token)}; service_flow_00abcde1234567890AB=x; service_hops=1; b=2`,
        accepted: { user: 'ada', cookies: `theme=dark; service_session=${token}; b=2` },
      },
    ],
    'query-token': [
      { cookie: seen(), target: `/?service_session=${token}`, refused: 'no_session' },
    ],
  }
}

/** A token that needs both of the characters that two alphabets spell in another way. */
function standard(key: typeof CURRENT, claims: object): string {
  for (let salt = 0; ; salt++) {
    const token = signRs256(key, HEADER, { ...claims, salt })
    if (token.includes('-') && token.includes('_'))
      return token.replaceAll('-', '+').replaceAll('_', '/')
  }
}
