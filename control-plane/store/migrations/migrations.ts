import { first } from './0001-first.ts'

/** In this order, each once. A migration that has been released is never edited. */
export const migrations = [first] as const
