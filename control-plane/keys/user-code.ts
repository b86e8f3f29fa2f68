/**
 * A code that is read in a terminal and typed into a page: `BCDF-GHJK`. No vowels, so that it spells
 * nothing, and no digits that a letter could be taken for (RFC 8628, section 6.1): 34 bits.
 */
import { randomInt } from 'node:crypto'

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const HALF = 4
const WHOLE = new RegExp(`^[${LETTERS}]{${2 * HALF}}$`)

const written = (letters: string) => `${letters.slice(0, HALF)}-${letters.slice(HALF)}`

export function newUserCode(): string {
  const letters = Array.from({ length: 2 * HALF }, () => LETTERS[randomInt(LETTERS.length)])
  return written(letters.join(''))
}

/** As it was made, however it was typed; undefined is none of ours. */
export function readUserCode(typed: string): string | undefined {
  const letters = typed.replaceAll(/[\s\p{Pd}]/gu, '').toUpperCase()
  return WHOLE.test(letters) ? written(letters) : undefined
}
