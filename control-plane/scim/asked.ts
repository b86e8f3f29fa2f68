/** What is asked for, and what is answered. */
import type { Enforced } from '../store/enforced.ts'
import type { ScimToken } from './tokens.ts'

/** What was answered; `ignored`: of what was sent. */
export interface Answer {
  readonly status: number
  readonly body?: object
  readonly location?: string
  readonly ignored?: readonly string[]
  /** Where sessions have ended: who refuses them by now. */
  readonly enforced?: Enforced | undefined
}

/** One collection of resources; each method is one call of a service. */
export interface Requests {
  list(asked: Asked): Promise<Answer>
  create(asked: Asked): Promise<Answer>
  get(asked: Asked, id: string): Promise<Answer>
  replace(asked: Asked, id: string): Promise<Answer>
  patch(asked: Asked, id: string): Promise<Answer>
  remove(asked: Asked, id: string): Promise<Answer>
}

export interface Asked {
  readonly token: ScimToken
  readonly actor: { readonly name: string; readonly requestId: string }
  /** Of this tenant: what addresses of resources begin with. */
  readonly base: string
  /** The last one counts, and none where it is left out. */
  query(name: string): string | undefined
  body(): Promise<Readonly<Record<string, unknown>>>
}
