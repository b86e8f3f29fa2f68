/** What can go wrong with a tenant's database, where to mend it, and what to tell who can. */
import { LIMITS } from '../../shared/limits.ts'

interface FaultText {
  /** The setting that has to be looked at. */
  readonly field: string
  readonly detail: string
}

const FAULTS = {
  name_unknown: { field: 'host', detail: 'There is no address for this host. Check its spelling.' },
  address_refused: {
    field: 'host',
    detail:
      'This host is the service itself, a link-local or a metadata address. Name the database server by an address that others reach it at.',
  },
  unreachable: {
    field: 'host',
    detail:
      'Nothing takes connections there. Check host and port, that the database is running, and that a firewall lets us through.',
  },
  connect_timeout: {
    field: 'host',
    detail:
      'The database did not take the connection in time. Check host and port, and that a firewall lets us through.',
  },
  not_a_database: {
    field: 'port',
    detail: 'What answers there is no database of this kind. Check kind and port.',
  },
  tls_missing: {
    field: 'tls',
    detail:
      'The database does not offer TLS. Turn it on there, or set "tls" to "off" if the network in between is trusted.',
  },
  tls_untrusted: {
    field: 'ca_pem',
    detail:
      'The certificate of the database is not trusted. Give the certificate of its authority as "ca_pem", use the host name that it was issued for, and see that it has not expired.',
  },
  credentials_wrong: {
    field: 'password',
    detail: 'The database refuses this user or its password. Check both.',
  },
  not_admitted: {
    field: 'username',
    detail:
      'The database does not let this user in from here. Allow the address of this service (pg_hba.conf, or the host part of the MySQL user), or check whether it wants TLS.',
  },
  database_unknown: {
    field: 'database',
    detail: 'There is no such database on this server, or this user may not use it.',
  },
  not_read_only: {
    field: 'username',
    detail:
      'The database does not keep our connection read-only. Connect to it directly, not through a proxy that drops session settings.',
  },
  query_wrong: { field: 'query', detail: 'The database does not understand the query.' },
  query_forbidden: {
    field: 'username',
    detail:
      'This user may not run the query. Grant it SELECT on the tables that it names, and check their spelling.',
  },
  query_writes: {
    field: 'query',
    detail: 'The query wants to write. It must be one SELECT that only reads.',
  },
  query_slow: {
    field: 'query',
    detail:
      'The database did not answer the query in time. Look whether an index serves its condition, as for lower(email).',
  },
  parameter_wrong: {
    field: 'query',
    detail:
      'The query must take exactly one parameter, the login, and compare it with text: $1 in Postgres (as often as you like), one single ? in MySQL, as in ? IN (email, username).',
  },
  answer_too_large: {
    field: 'query',
    detail: `The database answered with more than ${LIMITS.directoryAnswerBytesMax / 1024 / 1024} MiB. Have the query give one row with the named columns only.`,
  },
  column_twice: {
    field: 'query',
    detail: 'Two columns of the query have the same name. Give one of them another with AS.',
  },
  overloaded: {
    field: 'host',
    detail: 'The database accepts no more connections right now. Try again, or raise its limit.',
  },
  lost: {
    field: 'host',
    detail: 'The database ended the connection. See whether it is being restarted, and try again.',
  },
  waited_too_long: {
    field: 'host',
    detail: 'Too many sign-ins wait for this database already. Try again.',
  },
  other: { field: 'host', detail: 'The database answered with an error that we do not know.' },
} as const satisfies Record<string, FaultText>

export type FaultKind = keyof typeof FAULTS

export class DirectoryFault extends Error {
  readonly kind: FaultKind
  /** What the database itself says about a query: for its administrator, not for the log. */
  readonly said: string | undefined

  constructor(kind: FaultKind, said?: string) {
    super(kind)
    this.name = 'DirectoryFault'
    this.kind = kind
    this.said = said?.replaceAll(/\s+/g, ' ').slice(0, LIMITS.directoryMessageCharactersMax)
  }

  get field(): string {
    return FAULTS[this.kind].field
  }

  get detail(): string {
    const { detail } = FAULTS[this.kind]
    return this.said === undefined ? detail : `${detail} It says: ${this.said}`
  }
}

/** The time is over for whoever waits; what it was about is ended by `onLate`. */
export async function within<T>(
  limitMs: number,
  kind: FaultKind,
  work: Promise<T>,
  onLate: () => void,
): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    onLate()
    late.reject(new DirectoryFault(kind))
  }, limitMs)
  work.catch(() => {}) // may fail when nobody waits for it any more
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

const CONNECT_CODES: Readonly<Record<string, FaultKind>> = {
  ECONNREFUSED: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ETIMEDOUT: 'connect_timeout',
  ECONNRESET: 'lost',
  EPIPE: 'lost',
  PROTOCOL_CONNECTION_LOST: 'lost',
}

const UNTRUSTED =
  /^(?:ERR_TLS_CERT_ALTNAME_INVALID|ERR_TLS_CERT|CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|HANDSHAKE_SSL_ERROR)/

/** What every driver passes on from the socket or from TLS. */
export function networkFault(code: string | undefined): DirectoryFault | undefined {
  if (code === undefined) return undefined
  if (UNTRUSTED.test(code)) return new DirectoryFault('tls_untrusted')
  const kind = CONNECT_CODES[code]
  if (kind !== undefined) return new DirectoryFault(kind)
  return /^(?:ERR_SSL_|EPROTO)/.test(code) ? new DirectoryFault('tls_untrusted') : undefined
}
