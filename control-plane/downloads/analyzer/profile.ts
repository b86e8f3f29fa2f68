/**
 * The saved key: a file that nobody but its owner can read, one key per address of a service. What
 * others can read or could have put there is refused with the command that mends it.
 */
import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import * as files from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import * as v from 'valibot'
import { Problem } from '../command-line/exit.ts'
import { writeNew } from './journal/record.ts'
import { visibleText } from '../command-line/words.ts'

interface SavedKey {
  readonly key: string
  /** Of the tenant that it belonged to when it was saved. */
  readonly tenantId: string
  /** In sdk mode, until it is where the application finds it. */
  readonly clientSecret?: string
}

export type Profile = ReturnType<typeof createProfile>

interface ProfileWorld {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly homeFolder: string
  /** undefined where the system has no such thing, and guards a home folder by itself. */
  readonly userId: number | undefined
}

const BYTES_MAX = 64 * 1024
const SERVICES_MAX = 100

const ProfileFile = v.object({
  version: v.literal(1),
  services: v.pipe(
    v.record(
      v.string(),
      v.object({
        key: v.string(),
        tenant_id: v.string(),
        client_secret: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{16,256}$/))),
      }),
    ),
    v.check((services) => Object.keys(services).length <= SERVICES_MAX),
  ),
})
type Services = v.InferOutput<typeof ProfileFile>['services']

export function createProfile({ environment, homeFolder, userId }: ProfileWorld) {
  const configured = environment['XDG_CONFIG_HOME'] ?? ''
  // a relative one does not count (XDG Base Directory Specification)
  const base = isAbsolute(configured) ? configured : join(homeFolder, '.config')
  const folder = join(base, 'service-analyzer')
  const path = join(folder, 'profile.json')

  return {
    path,
    async read(baseUrl: string): Promise<SavedKey | null> {
      const saved = (await readServices())?.[baseUrl]
      if (saved === undefined) return null
      const { key, tenant_id: tenantId, client_secret: clientSecret } = saved
      return { key, tenantId, ...(clientSecret !== undefined && { clientSecret }) }
    },
    async save(baseUrl: string, { key, tenantId, clientSecret }: SavedKey): Promise<void> {
      const services = (await readServices()) ?? {}
      const secret = clientSecret !== undefined && { client_secret: clientSecret }
      await write({ ...services, [baseUrl]: { key, tenant_id: tenantId, ...secret } })
    },
    /** False: there was none. */
    async remove(baseUrl: string): Promise<boolean> {
      const { [baseUrl]: removed, ...others } = (await readServices()) ?? {}
      if (removed === undefined) return false
      if (Object.keys(others).length > 0) await write(others)
      else await files.rm(await files.realpath(path))
      return true
    },
  }

  async function readServices(): Promise<Services | null> {
    try {
      checkOwner(await files.lstat(path), path)
      await checkFolder()
      return await readFile()
    } catch (error) {
      if (error instanceof Problem) throw error
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return null
      throw unreadable(`it cannot be read (${code})`)
    }
  }

  async function checkFolder(): Promise<void> {
    checkOwner(await files.lstat(folder), folder)
    const stats = await files.stat(folder)
    checkOwner(stats, folder)
    checkPrivate(stats, folder, 0o022, '700')
  }

  /** What is looked at is what is read: by the handle, not by the name. */
  async function readFile(): Promise<Services> {
    const file = await files.open(path)
    try {
      const stats = await file.stat()
      if (!stats.isFile()) throw unreadable('it is not a file')
      if (stats.size > BYTES_MAX) throw unreadable('it is too large')
      checkOwner(stats, path)
      checkPrivate(stats, path, 0o077, '600')
      return parse(await file.readFile('utf8'))
    } finally {
      await file.close()
    }
  }

  function parse(text: string): Services {
    try {
      return v.parse(ProfileFile, JSON.parse(text)).services
    } catch {
      throw unreadable('its content is invalid') // and is shown nowhere
    }
  }

  /** Written aside and renamed, so that there is always a whole one; a link of our own stays one. */
  async function write(services: Services): Promise<void> {
    try {
      await files.mkdir(folder, { recursive: true, mode: 0o700 })
      await checkFolder()
      await files.chmod(folder, 0o700)
      const target = await files.realpath(path).catch(() => path)
      const draft = join(dirname(target), `.profile-${randomUUID()}`)
      try {
        const text = `${JSON.stringify({ version: 1, services }, undefined, 2)}\n`
        await writeNew(draft, Buffer.from(text), 0o600, files)
        await files.rename(draft, target)
      } finally {
        await files.rm(draft, { force: true })
      }
    } catch (error) {
      if (error instanceof Problem) throw error
      const { code = '' } = error as NodeJS.ErrnoException
      throw new Problem(
        'profile_unreadable',
        `Cannot write ${visibleText(path)} (${code}).`,
        'Set XDG_CONFIG_HOME to a folder you can write to, or use SERVICE_ANALYZER_KEY.',
      )
    }
  }

  function checkOwner({ uid }: Stats, owned: string) {
    if (userId === undefined || userId === 0 || uid === userId || uid === 0) return
    throw new Problem(
      'profile_unsafe',
      `${visibleText(owned)} belongs to another user, so its key is not used.`,
      `Delete it and run: service-analyzer login`,
    )
  }

  function checkPrivate({ mode }: Stats, guarded: string, refusedBits: number, wanted: string) {
    if (userId === undefined || (mode & refusedBits) === 0) return
    throw new Problem(
      'profile_unsafe',
      wanted === '600'
        ? `Others on this machine can read the key in ${visibleText(guarded)}, so it is not used.`
        : `Others on this machine can change what is in ${visibleText(guarded)}, so it is not used.`,
      `Run: chmod ${wanted} ${quoted(guarded)}`,
      'If someone may have read the key, rotate it on the integration page of your tenant.',
    )
  }

  function unreadable(why: string) {
    return new Problem(
      'profile_unreadable',
      `${visibleText(path)} is not used: ${why}.`,
      `Delete it and save the key again: rm -r ${quoted(path)} && service-analyzer login`,
    )
  }
}

/** For a shell, to be copied. */
export function quoted(text: string): string {
  const seen = visibleText(text)
  return /^[\w@%+=:,./-]+$/.test(seen) ? seen : `'${seen.replaceAll("'", `'\\''`)}'`
}
