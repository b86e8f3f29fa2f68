/** A model, whoever runs it: asked with text, answers with text that should be a guide. */

export interface AiSettings {
  /** What it speaks. */
  readonly provider: 'anthropic' | 'openai'
  /** null: the provider's own. */
  readonly baseUrl: string | null
  readonly model: string
  /** null: for a server of one's own that asks for none. */
  readonly key: string | null
  /** Of one analysis, whatever it takes. */
  readonly timeoutMs: number
  readonly inputCharactersMax: number
  readonly outputTokensMax: number
  readonly tenantTokensPerDay: number
  readonly tokensPerDay: number
}

export interface Message {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

export interface Question {
  readonly system: string
  readonly messages: readonly Message[]
  /** JSON Schema of what is to be answered. */
  readonly schema: Readonly<Record<string, unknown>>
}

/** What is said of tokens while an analysis runs. */
export interface Meter {
  /** Before something may cost so much; throws where it may not be spent. */
  hold(tokens: number): Promise<void>
  /** What it has cost, in place of what was held. */
  count(tokens: number): void
}

export interface Deadline {
  readonly signal: AbortSignal
  remainingMs(): number
}

export interface Provider {
  readonly name: string
  readonly model: string
  /** Answers with text, or throws a ProviderFailure. */
  ask(question: Question, deadline: Deadline, meter: Meter): Promise<string>
  close(): Promise<void>
}

export const FAILURES = {
  unavailable: 'ai_unavailable',
  timeout: 'ai_timeout',
  refused: 'ai_provider_refused',
  unusable: 'ai_answer_unusable',
  cut: 'ai_answer_cut',
  declined: 'ai_declined',
} as const

export type FailureKind = keyof typeof FAILURES

/** `detail` is for the operator's log: statuses, codes and ids, nothing of what was said. */
export class ProviderFailure extends Error {
  readonly kind: FailureKind
  readonly detail: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | undefined

  constructor(
    kind: FailureKind,
    detail: Readonly<Record<string, unknown>> = {},
    retryAfterSeconds?: number,
  ) {
    super(kind)
    this.name = 'ProviderFailure'
    this.kind = kind
    this.detail = detail
    this.retryAfterSeconds = retryAfterSeconds
  }
}
