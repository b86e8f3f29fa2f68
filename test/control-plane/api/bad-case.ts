/** A call that is wrong in one place, and how it has to be refused. */
import type { Otherwise } from './endpoint-world.ts'

export interface BadCase {
  readonly name: string
  readonly otherwise: Otherwise
  readonly status: number
  readonly error: string | RegExp
  readonly field?: string | undefined
}

/** None of it may come back in an answer. */
export const MARKER = 'sent-by-mistake'
