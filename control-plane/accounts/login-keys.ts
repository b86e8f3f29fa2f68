/** By what people are found, and whose names are one. Pure. */
import type { UserRow } from '../store/queries/users.ts'

/**
 * By what our own people are found, and no two of them alike. Who is kept elsewhere signs in by what
 * the directory knows: their keys are nobody else's, so that no name keeps another person out, and
 * begin with the same text, for who looks for somebody.
 */
export function keysOf({
  source,
  userId,
  username,
  email,
}: Pick<UserRow, 'source' | 'userId' | 'username' | 'email'>) {
  const keyOf = (text: string) =>
    source === 'directory' ? `${sharedKeyOf(text)}${userId}` : fold(text)
  return { usernameKey: keyOf(username), emailKey: keyOf(email) }
}

/** With what the key of everybody begins who is kept elsewhere under this name or address. */
export const sharedKeyOf = (text: string) => `${fold(text)}\n`

/**
 * `Ada`, `ada` and `ＡＤＡ` are one account. Within a domain every full stop is one, as for the names
 * that mail goes to (UTS 46); this one is left where all others are one already.
 */
export function fold(login: string): string {
  const folded = login.trim().normalize('NFKC').toLowerCase()
  const at = folded.indexOf('@')
  return at < 0 ? folded : folded.slice(0, at) + folded.slice(at).replaceAll('\u3002', '.')
}
