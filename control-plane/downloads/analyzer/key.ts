/** The key that the service is asked with. It is a secret: no message holds it. */
import { Problem } from '../command-line/exit.ts'

export function checkedKey(key: string, from: string): string {
  if (/^[\x21-\x7e]{1,512}$/.test(key)) return key
  throw new Problem(
    'key_malformed',
    `${from} contains characters that a key never has.`,
    'Copy it again, without quotes or line breaks.',
  )
}

export const keyMissing = () =>
  new Problem(
    'key_missing',
    'This command needs the analyzer key of your tenant, but none is saved.',
    'Sign in once, with the browser: service-analyzer login',
    'In a pipeline, set it as a secret: SERVICE_ANALYZER_KEY',
  )
