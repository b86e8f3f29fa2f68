/** What the operator API takes about a user directory. A message completes «"field" must be …». */
import { isIP } from 'node:net'
import { X509Certificate } from 'node:crypto'
import * as v from 'valibot'
import { endsInNumber, SERVER_NAME } from '../../shared/hosts.ts'
import { LIMITS } from '../../shared/limits.ts'
import { isPlausibleQuery, QUERY_WISH } from '../user-directory/query.ts'
import { DIRECTORY_KINDS, TLS_MODES } from '../user-directory/settings.ts'
import type { NewDirectory } from '../user-directory/user-directories.ts'
import { fromOutside } from './field-names.ts'
import { oneOf } from './fields.ts'

const text = (max: number) => {
  const wish = `text of 1 to ${max} characters, without control characters`
  return v.pipe(
    v.string(wish),
    v.check((value) => value !== '' && value.length <= max, wish),
    v.check((value) => !/\p{Cc}/u.test(value) && value.isWellFormed(), wish),
  )
}

const HOST_WISH = 'a full DNS name like db.example.com, or an IP address'
const host = v.pipe(
  v.string(HOST_WISH),
  v.toLowerCase(),
  v.check(
    (value) => isIP(value) !== 0 || (SERVER_NAME.test(value) && !endsInNumber(value)),
    HOST_WISH,
  ),
  v.check((value) => !value.includes('%'), HOST_WISH),
)

const PORT_WISH = 'a port from 1 to 65535'
const port = v.pipe(
  v.number(PORT_WISH),
  v.integer(PORT_WISH),
  v.minValue(1, PORT_WISH),
  v.maxValue(65_535, PORT_WISH),
)

const CA_WISH = 'certificates in PEM format'
const caPem = v.pipe(
  v.string(CA_WISH),
  v.maxBytes(LIMITS.certificateBytesMax, `at most ${LIMITS.certificateBytesMax} bytes`),
  v.check(isCertificates, CA_WISH),
)

function isCertificates(pem: string): boolean {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    return blocks.length > 0 && blocks.every((block) => new X509Certificate(block).subject !== null)
  } catch {
    return false
  }
}

const QUERY_LENGTH_WISH = `text of 1 to ${LIMITS.directoryQueryCharactersMax} characters`
const query = v.pipe(
  v.string(QUERY_LENGTH_WISH),
  v.check(
    (value) => value.trim() !== '' && value.length <= LIMITS.directoryQueryCharactersMax,
    QUERY_LENGTH_WISH,
  ),
  v.check((value) => !value.includes('\0') && value.isWellFormed(), QUERY_LENGTH_WISH),
)

const NAME_CHARACTERS_MAX = 128
const column = text(NAME_CHARACTERS_MAX)
const LOGIN_CHARACTERS_MAX = 320
const login = text(LOGIN_CHARACTERS_MAX)

export const UserDirectoryBody = v.pipe(
  v.strictObject({
    kind: oneOf(DIRECTORY_KINDS),
    host,
    port: v.optional(port),
    database: text(NAME_CHARACTERS_MAX),
    username: text(NAME_CHARACTERS_MAX),
    password: v.optional(text(LIMITS.secretCharactersMax)),
    tls: v.optional(oneOf(TLS_MODES), 'verify'),
    ca_pem: v.optional(v.nullable(caPem), null),
    query,
    columns: v.strictObject(
      {
        id: column,
        username: column,
        email: column,
        name: column,
        password_hash: column,
        disabled: v.optional(column),
      },
      'the column names for id, username, email, name and password_hash, and optionally disabled',
    ),
    login: v.optional(login),
  }),
  v.forward(
    v.check((body) => isPlausibleQuery(body.kind, body.query), QUERY_WISH),
    ['query'],
  ),
  v.forward(
    v.check(
      (body) => body.tls === 'off' || body.kind === 'postgres' || isIP(body.host) === 0,
      'a DNS name for MySQL over TLS, because the certificate is checked against it',
    ),
    ['host'],
  ),
)

const PORTS = { postgres: 5432, mysql: 3306 } as const

export const DryRunBody = v.strictObject({ login: v.optional(login) })

type DirectoryBody = Omit<v.InferOutput<typeof UserDirectoryBody>, 'login'>

export function toDirectory({ port, ...body }: DirectoryBody): NewDirectory {
  return { ...fromOutside(body), password: body.password, port: port ?? PORTS[body.kind] }
}
