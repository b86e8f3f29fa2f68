/** What counts as an e-mail address, whoever brings it along: one of our mails must be able to reach it. */
import { LIMITS } from '../../shared/limits.ts'
import { hasUnseen } from '../../shared/unseen.ts'

/**
 * No quoted names, no comments, no address in brackets: nothing that a mail header could trip over. Nor
 * the number of a machine, or a dot behind it, for what stands behind the `@`: that is a domain's name.
 */
const EMAIL_ADDRESS =
  /^[^\s@\p{Cc}<>"(),:;\\]+@(?![\d.]+$)[^\s@\p{Cc}<>"(),:;\\[\]]*[^\s@\p{Cc}<>"(),:;\\[\].]$/u

export function isEmailAddress(text: string): boolean {
  if (text.length > LIMITS.emailCharactersMax || !text.isWellFormed()) return false
  return EMAIL_ADDRESS.test(text) && !hasUnseen(text)
}

/**
 * Whether mail to it reaches the mailbox that its key names (`fold`): in compatibility forms, like fullwidth
 * letters, a name is another mailbox to its server and the same account to us.
 */
export function isOneMailbox(address: string): boolean {
  const local = address.slice(0, address.lastIndexOf('@'))
  return local.normalize('NFKC') === local
}

/** To most servers all tags behind a plus sign are one mailbox: for bounds, never for who somebody is. */
export function mailboxOf(emailKey: string): string {
  const at = emailKey.lastIndexOf('@')
  const plus = emailKey.indexOf('+')
  return plus < 1 || plus > at ? emailKey : emailKey.slice(0, plus) + emailKey.slice(at)
}
