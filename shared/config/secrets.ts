/**
 * The secrets that the programs need, from the environment or from `secrets.json`.
 * Pure: who calls it reads and writes the file.
 */
import { randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { ConfigError } from './config.ts'

export const SECRET_NAMES = [
  'SERVICE_OPERATOR_KEY',
  'SERVICE_FLEET_KEY',
  'SERVICE_MASTER_KEY',
] as const
export type SecretName = (typeof SECRET_NAMES)[number]
export type Secrets<Name extends SecretName = SecretName> = Readonly<Record<Name, string>>

/** These are replaced while programs run: the one before opens for as long as it is there, too. */
const REPLACED_NAMES = ['SERVICE_OPERATOR_KEY', 'SERVICE_FLEET_KEY'] as const
export const PREVIOUS_NAMES = [
  'SERVICE_OPERATOR_KEY_PREVIOUS',
  'SERVICE_FLEET_KEY_PREVIOUS',
] as const

const SECRET_CHARACTERS_MIN = 16
/** What an Authorization header carries as it stands. */
const SENDABLE = /^[\x21-\x7e]+$/
const FileSchema = v.record(v.string(), v.string())

interface ResolvedSecrets<Name extends SecretName> {
  readonly secrets: Secrets<Name>
  /** Those that still open beside them. */
  readonly previous: Partial<Secrets<Name>>
  /** The file's new text when something had to be generated, else undefined. */
  readonly fileText: string | undefined
}

/** Environment first, then the file, then a fresh random value. */
export function resolveSecrets<Name extends SecretName>(
  names: readonly Name[],
  environment: Readonly<Record<string, string | undefined>>,
  fileText: string | undefined,
  fileName: string,
): ResolvedSecrets<Name> {
  const stored: Record<string, string> = fileText === undefined ? {} : readFile(fileText, fileName)
  const next = { ...stored }
  let hasGenerated = false
  const entries = names.map((name) => {
    const given = environment[name] ?? next[name]
    if (given !== undefined) return [name, checkedSecret(name, given)] as const
    const generated = randomBytes(32).toString('base64url')
    next[name] = generated
    hasGenerated = true
    return [name, generated] as const
  })
  const secrets = Object.fromEntries(entries) as Secrets<Name>
  const replaced = REPLACED_NAMES.filter((name) => name in secrets).flatMap((name) => {
    const given = environment[`${name}_PREVIOUS`] || stored[`${name}_PREVIOUS`]
    // the same: its place is made ready, and the next key has not come yet
    if (!given || given === secrets[name as Name]) return []
    return [[name, checkedSecret(`${name}_PREVIOUS`, given)] as const]
  })
  return {
    secrets,
    previous: Object.fromEntries(replaced) as Partial<Secrets<Name>>,
    fileText: hasGenerated ? `${JSON.stringify(next, null, 2)}\n` : undefined,
  }
}

export function checkedSecret(name: string, given: string): string {
  if (given.length >= SECRET_CHARACTERS_MIN && SENDABLE.test(given)) return given
  throw new ConfigError(
    `${name}: expected at least ${SECRET_CHARACTERS_MIN} printable ASCII characters, without spaces`,
  )
}

/** The message never repeats the file's text: it holds secrets. */
function readFile(text: string, fileName: string): Record<string, string> {
  try {
    return v.parse(FileSchema, JSON.parse(text))
  } catch {
    throw new ConfigError(`${fileName}: expected an object of strings; restore it from a backup`)
  }
}
