/**
 * From arguments, environment and files to settings and secrets. The file system is handed in by
 * the program.
 */
import type * as FileSystem from 'node:fs'
import { randomUUID } from 'node:crypto'
import { ConfigError, parseConfig, type Config } from './config.ts'
import { withSecretFiles, type Environment } from './secret-files.ts'
import { PREVIOUS_NAMES, resolveSecrets, type SecretName, type Secrets } from './secrets.ts'

interface SettingsWorld {
  /** Command-line arguments behind the program's name. */
  readonly args: readonly string[]
  readonly environment: Environment
  readonly files: Pick<
    typeof FileSystem,
    | 'linkSync'
    | 'mkdirSync'
    | 'readFileSync'
    | 'renameSync'
    | 'rmSync'
    | 'statSync'
    | 'writeFileSync'
  >
}

/** What a program wants beside the config file. */
interface Wanted<Name extends SecretName> {
  readonly secrets: readonly Name[]
  /** Whether those that are nowhere are made: what a tool made would open nothing. */
  readonly areMade: boolean
  readonly flags?: readonly string[]
}

export interface Settings<Name extends SecretName = SecretName> {
  readonly config: Config
  readonly secrets: Secrets<Name>
  /** Keys before these that still open. */
  readonly previous: Partial<Secrets<Name>>
  /** Where keys come from that may change while the program runs. */
  readonly keyFiles: readonly string[]
  /** With the secrets that came as files. */
  readonly environment: Environment
  readonly configFile: string | undefined
  readonly flags: ReadonlySet<string>
}

const DEFAULT_FILE = 'config.yaml'

export function readSettings<Name extends SecretName>(
  world: SettingsWorld,
  wanted: Wanted<Name>,
): Settings<Name> {
  const { file, flags } = readArguments(world.args, wanted.flags ?? [])
  const text = readText(world, file ?? DEFAULT_FILE)
  if (file !== undefined && text === undefined)
    throw new ConfigError(`${file}: file not found; start from a copy of config.example.yaml`)
  const config = parseConfig(text ?? '', file ?? DEFAULT_FILE)
  const environment = withSecretFiles(world.environment, (path) =>
    world.files.readFileSync(path, 'utf8'),
  )
  return {
    config,
    ...readSecrets({ ...world, environment }, wanted, config),
    keyFiles: keyFilesOf(world.environment, wanted.secrets, config),
    environment,
    configFile: text === undefined ? undefined : (file ?? DEFAULT_FILE),
    flags,
  }
}

const secretsFileOf = ({ data_dir: folder }: Config) => `${folder}/secrets.json`

function keyFilesOf(
  environment: Environment,
  names: readonly SecretName[],
  config: Config,
): readonly string[] {
  const named = [...names, ...PREVIOUS_NAMES].map((name) => environment[`${name}_FILE`] ?? '')
  return [secretsFileOf(config), ...named.filter((path) => path !== '')]
}

/** Two programs that start together on a fresh folder must not make two sets of secrets. */
function readSecrets<Name extends SecretName>(
  world: SettingsWorld,
  { secrets: names, areMade }: Wanted<Name>,
  config: Config,
): Pick<Settings<Name>, 'secrets' | 'previous'> {
  const path = secretsFileOf(config)
  for (;;) {
    const text = readText(world, path)
    if (text !== undefined) requirePrivate(world, path)
    const { fileText, ...read } = resolveSecrets(names, world.environment, text, path)
    if (fileText === undefined) return read
    if (!areMade)
      throw new ConfigError(
        `${path}: ${names.join(' and ')} expected in it, or in the environment, as the control plane has it; name its config file with --config`,
      )
    if (writePrivate(world, path, fileText, text === undefined)) return read
  }
}

const OTHERS_BITS = 0o077

/**
 * As `ssh` does it: a secret that others could read is none any more, and to close the file quietly
 * would hide that. A backup that was restored without its mode is the usual way to get here.
 */
function requirePrivate({ files }: SettingsWorld, path: string) {
  const mode = files.statSync(path).mode & 0o777
  if ((mode & OTHERS_BITS) === 0) return
  throw new ConfigError(
    `${path}: other users can read it (mode ${mode.toString(8).padStart(4, '0')}); run "chmod 600 ${path}", and replace its keys if other people use this machine`,
  )
}

function readText({ files }: SettingsWorld, path: string): string | undefined {
  try {
    return files.readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Mode 0600, in a folder that is nobody else's; false where another program has just made the file.
 * Written aside and then linked or renamed, so that no reader ever finds half of it.
 */
function writePrivate({ files }: SettingsWorld, path: string, text: string, isNew: boolean) {
  files.mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}`
  files.writeFileSync(draft, text, { mode: 0o600, flush: true })
  try {
    if (!isNew) files.renameSync(draft, path)
    else files.linkSync(draft, path)
    return true
  } catch (error) {
    if (isNew && (error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    files.rmSync(draft, { force: true })
  }
}

function readArguments(args: readonly string[], knownFlags: readonly string[]) {
  const flags = new Set<string>()
  let file: string | undefined
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (arg === '--config') {
      file = args[++index]
      if (file === undefined) throw new ConfigError('--config: expected a file name after it')
    } else if (arg.startsWith('--config=')) file = arg.slice('--config='.length)
    else if (knownFlags.includes(arg)) flags.add(arg)
    else {
      const known = ['--config FILE', ...knownFlags].join(', ')
      throw new ConfigError(`${arg}: unknown argument; known arguments: ${known}`)
    }
  }
  return { file, flags }
}
