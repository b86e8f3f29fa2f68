/** What counts as an e-mail address, whoever brings it along: one of our mails must be able to reach it. */
import { LIMITS } from '../../shared/limits.ts'
import { hasUnseen } from '../../shared/unseen.ts'

/** No quoted names, no comments, no address in brackets: nothing that a mail header could trip over. */
const EMAIL_ADDRESS = /^[^\s@\p{Cc}<>"(),:;\\]+@[^\s@\p{Cc}<>"(),:;\\]+$/u

export function isEmailAddress(text: string): boolean {
  if (text.length > LIMITS.emailCharactersMax || !text.isWellFormed()) return false
  return EMAIL_ADDRESS.test(text) && !hasUnseen(text)
}
