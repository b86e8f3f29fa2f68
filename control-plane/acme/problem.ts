/** What a certificate authority, or the way to it, did not let through. */

const NAMESPACE = 'urn:ietf:params:acme:error:'

/** RFC 8555 section 6.7, and what has been registered since; any other is told by its words. */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem'
  /** Without its namespace: `rateLimited`. '' where the answer was none of ACME. */
  readonly type: string
  /** 0: there was no answer. */
  readonly status: number
  /** How long it wants not to be asked; undefined: it says nothing. */
  readonly retryAfterMs: number | undefined

  constructor(
    detail: string,
    said: { type?: string; status?: number; retryAfterMs?: number | undefined } = {},
  ) {
    super(detail)
    this.type = said.type ?? ''
    this.status = said.status ?? 0
    this.retryAfterMs = said.retryAfterMs
  }

  /** The authority cannot take this now, whatever it is: later, or another one. */
  get isBusy(): boolean {
    return this.status === 0 || this.status >= 500 || this.isLimit
  }

  /** The authority itself says that it has done nothing; of any other answer, or none, nobody knows. */
  get isRefusal(): boolean {
    return this.status === 429 || (this.type !== '' && this.type !== 'serverInternal')
  }

  /** So much has been asked for that it takes no more: by the account, or for one name. */
  get isLimit(): boolean {
    return this.status === 429 || this.type === 'rateLimited'
  }
}

const DETAIL_CHARACTERS_MAX = 400

/** Anything else is no answer of an authority. */
export function problemIn(error: unknown): AcmeProblem {
  if (error instanceof AcmeProblem) return error
  throw error
}

interface Said {
  readonly type?: unknown
  readonly detail?: unknown
  readonly subproblems?: unknown
}

export function problemOf(
  content: unknown,
  said: { status?: number; retryAfterMs?: number | undefined } = {},
): AcmeProblem {
  const { type, detail, subproblems } = (content ?? {}) as Said
  const name = typeof type === 'string' ? type : ''
  const inner = Array.isArray(subproblems)
    ? subproblems.flatMap((one: Said | null) => textOf(one?.detail))
    : []
  const text = [...textOf(detail), ...inner].join(' ')
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return new AcmeProblem(plain.slice(0, DETAIL_CHARACTERS_MAX), {
    ...said,
    type: name.startsWith(NAMESPACE) ? name.slice(NAMESPACE.length) : '',
  })
}

interface NotProven {
  readonly status: string
  readonly challenges: readonly { readonly error?: unknown }[]
}

export function problemOfAuthorization({ status, challenges }: NotProven): AcmeProblem {
  const failed = challenges.find(({ error }) => error !== undefined)
  return failed === undefined
    ? new AcmeProblem(`The authorization is ${status}.`)
    : problemOf(failed.error)
}

const textOf = (given: unknown) => (typeof given === 'string' ? [given] : [])
