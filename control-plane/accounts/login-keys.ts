/** By what people are found, and whose names are one. Pure. */
import { fold, type User } from './users.ts'

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
}: Pick<User, 'source' | 'userId' | 'username' | 'email'>) {
  const keyOf = (text: string) =>
    source === 'directory' ? `${sharedKeyOf(text)}${userId}` : fold(text)
  return { usernameKey: keyOf(username), emailKey: keyOf(email) }
}

/** With what the key of everybody begins who is kept elsewhere under this name or address. */
export const sharedKeyOf = (text: string) => `${fold(text)}\n`
