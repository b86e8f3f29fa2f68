/** Where the defaults of options come from: read when a guard is made, not when it is imported. */
import { existsSync } from 'node:fs'

type Environment = Readonly<Record<string, string | undefined>>

/** The name that the service suggests for the file. */
const KEY_FILE = 'service_public.pem'

export function environment(): Environment {
  return process.env
}

/** With what lies where the application was started, as the snippets of the contract expect it. */
export function environmentWithKeyFile(): Environment {
  const { SERVICE_PUBLIC_KEY_FILE: given } = process.env
  const file = given || (existsSync(KEY_FILE) ? KEY_FILE : undefined)
  return { ...process.env, SERVICE_PUBLIC_KEY_FILE: file }
}
