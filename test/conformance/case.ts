/** One request of a table and what it requires, and what a target made of it. */
export type Outcome =
  | 'forward'
  | 'sign_in_redirect'
  | 'sign_in_401'
  | 'sealed_404'
  | `refused_${number}`
  | `service_${number}`

export interface Cell {
  readonly outcome: Outcome
  /** The code that a person or a program is told, '' where none is. */
  readonly reason: string
  readonly location: string
  readonly cacheControl: string
  /** `service_seen` or, where it is taken away, `-service_seen`. */
  readonly cookies: readonly string[]
  /** Set-Cookie and, of our own answers, all other lines; what is random is replaced by its name. */
  readonly lines: readonly string[]
  readonly body: string
  readonly application: Received | null
}

/** What the application was told. */
export interface Received {
  readonly method: string
  readonly target: string
  readonly user: string
  readonly claims: string
  readonly verified: string
  /** Of the person, of those that rules speak of; required to be '' where a case does not name it. */
  readonly groups: string
  readonly cookies: string
  /** Names that claim an identity or another path, beside those that are ours. */
  readonly foreign: readonly string[]
  /** Every other line. */
  readonly lines: readonly string[]
}

export interface Required extends Partial<Omit<Cell, 'application' | 'outcome'>> {
  /** One of several where all of them are safe; the targets still have to agree. */
  readonly outcome?: Outcome | readonly Outcome[]
  readonly application?: Partial<Received> | null
}

export interface Case {
  readonly name: string
  /** The bytes that are sent. */
  readonly ask: string
  readonly required: Required
  /** The status with which Node's own parser refuses these bytes; 0: it hangs up. */
  readonly nodeAnswers?: 0 | 400 | 431
  /** What is required inside an application, where the edge knows no tenant of that host. */
  readonly inside?: Required
}
