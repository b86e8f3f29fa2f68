/**
 * Every request carries the session token, or that of a machine, so it has a size. A name may take more
 * of it than there is: nobody is kept out by what they are called. Who needs all of a person's asks for
 * the userinfo. Pure.
 */
import { LIMITS } from '../../shared/limits.ts'

/** What the claims may take as JSON, beside the header and a signature as long as the modulus. */
export function payloadBytesMax(header: object, modulus: string): number {
  const others = Buffer.from(JSON.stringify(header)).toString('base64url').length + modulus.length
  return Math.floor(((LIMITS.sessionTokenBytesMax - others - '..'.length) * 3) / 4)
}

interface Shown {
  readonly name?: string
  readonly email?: string
}

/**
 * The name is cut where a character ends, or goes. An address that is not whole is another one, so
 * it goes as it is, and only where it does not fit without any name.
 */
export function fitClaims<Claims extends Shown>(claims: Claims, bytesMax: number): Claims {
  const { name = '', ...nameless } = claims
  const { email: _, ...bare } = nameless
  const kept = bytesOf(nameless) <= bytesMax ? nameless : bare
  const whole = { ...kept, ...(name !== '' && { name }) } as Claims
  const surplus = bytesOf(whole) - bytesMax
  if (surplus <= 0) return whole
  const part = shortened(name, surplus)
  return (part === '' ? kept : { ...kept, name: part }) as Claims
}

/** Without so many bytes of JSON from its end; nothing where it has no more than that. */
function shortened(name: string, surplus: number): string {
  const characters = [...name]
  for (let left = surplus; left > 0;) {
    const last = characters.pop()
    if (last === undefined) return ''
    left -= bytesOf(last) - '""'.length
  }
  return characters.join('').trim()
}

const bytesOf = (content: unknown) => Buffer.byteLength(JSON.stringify(content))
