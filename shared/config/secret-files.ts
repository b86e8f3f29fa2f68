/** Secrets that a platform hands over as files, as containers and systemd do: NAME_FILE instead of NAME. */
import { ConfigError } from './config.ts'
import { PREVIOUS_NAMES, SECRET_NAMES } from './secrets.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const NAMES = [
  ...SECRET_NAMES,
  ...PREVIOUS_NAMES,
  'SERVICE_MASTER_KEY_PREVIOUS',
  'SERVICE_MASTER_KEY_NEXT',
  'SERVICE_SMTP_URL',
  'SERVICE_AI_KEY',
  'SERVICE_ACME_EAB',
  'PGPASSWORD',
] as const

/** Named once and for all, and there only while a key is being replaced. */
const MAY_BE_MISSING = new Set<string>(PREVIOUS_NAMES)

/** The environment, with what its files hold; a file's last line break is not part of its secret. */
export function withSecretFiles(
  environment: Environment,
  readFile: (path: string) => string,
): Environment {
  const read: Record<string, string> = {}
  for (const name of NAMES) {
    const path = environment[`${name}_FILE`]
    if (path === undefined || path === '') continue
    if (environment[name])
      throw new ConfigError(`${name}: it is set, and so is ${name}_FILE; keep one`)
    read[name] = secretIn(path, `${name}_FILE`, MAY_BE_MISSING.has(name))
  }
  return { ...environment, ...read }

  function secretIn(path: string, variable: string, mayBeMissing: boolean): string {
    let text: string
    try {
      text = readFile(path)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (mayBeMissing && code === 'ENOENT') return ''
      throw new ConfigError(`${variable}: cannot read ${path} (${code})`)
    }
    const secret = text.replace(/\r?\n$/, '')
    if (secret === '' && !mayBeMissing) throw new ConfigError(`${variable}: ${path} is empty`)
    return secret
  }
}
