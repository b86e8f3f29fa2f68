/** How a provider is spoken to: pure, so that each is read beside its documentation. */
import type { AiSettings, Question } from './provider.ts'

interface WireAnswer {
  readonly text: string
  /** As the provider has counted; undefined: it does not say. */
  readonly tokens: number | undefined
  readonly ending: 'whole' | 'cut' | 'declined'
}

export interface Wire {
  readonly defaultBaseUrl: string
  /** Behind the base address. */
  readonly path: string
  headers(key: string | null): Record<string, string>
  body(question: Question, settings: Pick<AiSettings, 'model' | 'outputTokensMax'>): unknown
  /** undefined: it is nothing of the kind. */
  read(answer: unknown): WireAnswer | undefined
  /** The request's id with the provider, for its support. */
  readonly requestIdHeader: string
}
