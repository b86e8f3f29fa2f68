/** Ten codes on paper for the day on which the phone is gone. */
import { randomInt } from 'node:crypto'

const COUNT = 10
const CHARACTERS = 10
/** Without 0, 1, I, L, O and U, which are read wrongly from paper. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ'

export function newRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => {
    const code = Array.from({ length: CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)])
    return `${code.slice(0, 5).join('')}-${code.slice(5).join('')}`
  })
}

/** As people type it → as it is hashed; undefined where it cannot be one. */
export function normalRecoveryCode(typed: string): string | undefined {
  const code = typed.toUpperCase().replace(/[\s-]/g, '')
  return /^[2-9A-HJKMNP-TV-Z]{10}$/.test(code) ? code : undefined
}
