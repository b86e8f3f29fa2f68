/**
 * One line in an `.env` that git does not know: no edit of a plan touches such a file, and no copy of
 * it may lie around. What was added is remembered in the user's own state folder, and taken out again
 * by its hash; everything else in the file is nobody's business.
 */
import { randomUUID } from 'node:crypto'
import { dirname, isAbsolute, join } from 'node:path'
import * as v from 'valibot'
import { LIMITS } from '../../../../shared/limits.ts'
import { objectIn } from '../json.ts'
import { hashOf, writeNew } from './record.ts'
import { look, textIn } from './sight.ts'
import { codeOf, type FileSystem } from './world.ts'

const Added = v.strictObject({
  root: v.string(),
  path: v.string(),
  sha256: v.string(),
  /** The file came to be with it. */
  isNew: v.boolean(),
  /** The file had no line end at its end. */
  isEnded: v.boolean(),
})
type Added = v.InferOutput<typeof Added>
const State = v.strictObject({ version: v.literal(1), lines: v.array(Added) })

interface EnvWorld {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly homeFolder: string
  readonly files: FileSystem
  /** Windows keeps who may read a file elsewhere than in its mode. */
  readonly platform?: NodeJS.Platform
}

/** impossible: it is no plain file of text, or cannot be written. */
type EnvLineAdded = 'added' | 'readable_by_others' | 'impossible'

const OTHERS = 0o077

export function envLinesOf(world: EnvWorld) {
  const { environment, homeFolder, files, platform = process.platform } = world
  const configured = environment['XDG_STATE_HOME'] ?? ''
  const base = isAbsolute(configured) ? configured : join(homeFolder, '.local', 'state')
  const folder = join(base, 'service-analyzer')
  const at = join(folder, 'env-lines.json')

  async function read(): Promise<readonly Added[]> {
    const text = await files.readFile(at, 'utf8').catch(() => null)
    const { success, output } = v.safeParse(State, objectIn(text))
    return success ? output.lines : []
  }

  async function remember(lines: readonly Added[]): Promise<void> {
    await files.mkdir(folder, { recursive: true, mode: 0o700 })
    const text = `${JSON.stringify({ version: 1, lines }, undefined, 2)}\n`
    await replace(at, Buffer.from(text), 0o600)
  }

  async function replace(file: string, bytes: Buffer, mode: number): Promise<void> {
    const draft = join(dirname(file), `.service-${randomUUID()}`)
    try {
      await writeNew(draft, bytes, mode, files)
      await files.rename(draft, file)
    } finally {
      await files.rm(draft, { force: true })
    }
  }

  return {
    async add(root: string, path: string, line: string): Promise<EnvLineAdded> {
      const sight = await look(root, path, LIMITS.editedFileBytesMax, files)
      if (sight.kind === 'problem') return 'impossible'
      const before = sight.kind === 'file' ? textIn(sight.bytes) : ''
      if (before === null) return 'impossible'
      const isSeen = sight.kind === 'file' && (sight.mode & OTHERS) !== 0 && platform !== 'win32'
      if (isSeen) return 'readable_by_others'
      const isEnded = before === '' || before.endsWith('\n')
      const added = { root, path, sha256: hashOf(Buffer.from(line)), isNew: sight.kind === 'absent', isEnded } // prettier-ignore
      const others = (await read()).filter((one) => one.root !== root || one.path !== path)
      try {
        await remember([...others, added]) // first: what is not remembered is never taken out
        const text = `${before}${isEnded ? '' : '\n'}${line}\n`
        await replace(
          join(root, path),
          Buffer.from(text),
          sight.kind === 'file' ? sight.mode : 0o600,
        )
        return 'added'
      } catch (error) {
        if (codeOf(error) === '') throw error
        return 'impossible'
      }
    },

    /** The paths that it was taken out of; a line that somebody has changed since is theirs. */
    async takeOut(root: string): Promise<string[]> {
      const all = await read()
      const ours = all.filter((one) => one.root === root)
      if (ours.length === 0) return []
      const restored: string[] = []
      for (const one of ours) if (await takeOne(one)) restored.push(one.path)
      const left = all.filter((one) => one.root !== root)
      if (left.length > 0) await remember(left)
      else await files.rm(at, { force: true })
      return restored
    },
  }

  async function takeOne({ root, path, sha256, isNew, isEnded }: Added): Promise<boolean> {
    const sight = await look(root, path, LIMITS.editedFileBytesMax, files)
    const text = sight.kind === 'file' ? textIn(sight.bytes) : null
    if (sight.kind !== 'file' || text === null) return false
    const lines = text.split('\n')
    const index = lines.findIndex((line) => hashOf(Buffer.from(line)) === sha256)
    if (index === -1) return false
    const isLast = index === lines.length - 2 && lines.at(-1) === ''
    lines.splice(index, 1)
    if (isLast && !isEnded) lines.pop()
    const rest = lines.join('\n')
    const file = join(root, path)
    if (isNew && rest === '') await files.unlink(file)
    else await replace(file, Buffer.from(rest), sight.mode)
    return true
  }
}
