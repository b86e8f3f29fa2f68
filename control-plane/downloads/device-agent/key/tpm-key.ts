/**
 * A key that the TPM has made and never gives away: what lies in the state folder is sealed by it,
 * and worth nothing on another machine. Asked by tpm2-tools. The key above it comes out of the
 * TPM's own seed each time, so nothing is kept in the TPM and nothing has to be taken out again.
 */
import { createHash, createPublicKey } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { KeyLost, type OpenKey } from './open-key.ts'
import type { Ended, RunTool } from './tools.ts'

const base64 = v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{1,4000}={0,2}$/))
const coordinate = v.pipe(v.string(), v.regex(/^[\w-]{43}$/))

export const TpmKeySchema = v.object({
  storage: v.literal('tpm'),
  /** As tpm2_create writes them. */
  public: base64,
  private: base64,
  x: coordinate,
  y: coordinate,
  /** Those from before this are locked while somebody's wrong PINs have locked the TPM. */
  never_locked: v.optional(v.boolean(), false),
})
type TpmKey = v.InferOutput<typeof TpmKeySchema>

export interface TpmWorld {
  readonly tool: RunTool
  /** null: the tools know where it is, as in a test. */
  readonly device: string | null
}

const OWN = 'fixedtpm|fixedparent|sensitivedataorigin|userwithauth'
/** Neither has a PIN that could be guessed, so guesses at those of others are nothing to them. */
const ATTRIBUTES = { key: `${OWN}|noda|sign`, primary: `${OWN}|noda|restricted|decrypt` } as const

/** Or why there can be none, in a few words. */
export function makeTpmKey(tpm: TpmWorld): Promise<TpmKey | string> {
  return inFolder(async (folder) => {
    const why = await unusable(tpm)
    if (why !== '') return why
    try {
      await primary(tpm, folder, { never_locked: true })
      await ask(tpm, folder, 'tpm2_create', [
        ...['-C', 'primary.ctx', '-G', 'ecc256:ecdsa-sha256', '-a', ATTRIBUTES.key],
        ...['-u', 'key.pub', '-r', 'key.priv'],
      ])
      await load(tpm, folder)
      await ask(tpm, folder, 'tpm2_readpublic', ['-c', 'key.ctx', '-f', 'pem', '-o', 'key.pem'])
      const read = (name: string) => readFile(join(folder, name))
      const { x = '', y = '' } = createPublicKey(await read('key.pem')).export({ format: 'jwk' })
      const made: TpmKey = {
        storage: 'tpm',
        public: (await read('key.pub')).toString('base64'),
        private: (await read('key.priv')).toString('base64'),
        x,
        y,
        never_locked: true,
      }
      await openTpmKey(made, tpm).sign(Buffer.from('a first signature'))
      return made
    } catch (error) {
      return error instanceof Error ? error.message : 'it does not work'
    }
  })
}

export function openTpmKey(stored: TpmKey, tpm: TpmWorld): OpenKey {
  const { x, y } = stored
  return {
    storage: 'tpm',
    publicKey: { kty: 'EC', crv: 'P-256', x, y },
    sign: (bytes) =>
      inFolder(async (folder) => {
        await writeFile(join(folder, 'key.pub'), Buffer.from(stored.public, 'base64'))
        await writeFile(join(folder, 'key.priv'), Buffer.from(stored.private, 'base64'))
        await writeFile(join(folder, 'digest'), createHash('sha256').update(bytes).digest())
        await primary(tpm, folder, stored)
        await load(tpm, folder)
        const signing = ['-c', 'key.ctx', '-g', 'sha256', '-d', '-f', 'plain', '-o', 'signature']
        await ask(tpm, folder, 'tpm2_sign', [...signing, 'digest'])
        return plainSignature(await readFile(join(folder, 'signature')))
      }),
  }
}

/** With DER inside in some versions of the tools, r and s alone in others. */
function plainSignature(signature: Buffer): Buffer {
  if (signature.length === 64) return signature
  const numbers: Buffer[] = []
  for (let at = 2; at < signature.length; at += 2 + (signature[at + 1] ?? 0)) {
    const length = signature[at + 1] ?? 0
    if (signature[at] !== 0x02 || length > 33) throw new Error('the TPM signs in another way')
    const number = signature.subarray(at + 2, at + 2 + length)
    const digits = number.subarray(Math.max(0, number.length - 32))
    numbers.push(Buffer.concat([Buffer.alloc(32 - digits.length), digits]))
  }
  const plain = Buffer.concat(numbers)
  if (plain.length !== 64) throw new Error('the TPM signs in another way')
  return plain
}

/** The listener is no root: what only root may ask is no place for its key. */
async function unusable({ device }: TpmWorld): Promise<string> {
  if (device === null) return ''
  try {
    const { mode, gid } = await stat(device)
    return gid !== 0 && (mode & 0o060) === 0o060 ? '' : `only root may use ${device}`
  } catch {
    return 'there is none'
  }
}

/** With other attributes it is another one, which knows nothing of what this one has made. */
const primary = (
  tpm: TpmWorld,
  folder: string,
  { never_locked: isNeverLocked }: Pick<TpmKey, 'never_locked'>,
) =>
  ask(tpm, folder, 'tpm2_createprimary', [
    ...['-C', 'o', '-G', 'ecc256', '-c', 'primary.ctx'],
    ...(isNeverLocked ? ['-a', ATTRIBUTES.primary] : []),
  ])

const load = (tpm: TpmWorld, folder: string) =>
  ask(tpm, folder, 'tpm2_load', [
    ...['-C', 'primary.ctx', '-u', 'key.pub', '-r', 'key.priv', '-c', 'key.ctx'],
  ])

/** TPM_RC_INTEGRITY, with the parameter it is about in front: sealed by another seed. */
const INTEGRITY = /\b0x(?:[0-9a-f]*)[19]df\b|integrity check fail/i
/** TPM_RC_OBJECT_MEMORY: without a resource manager, what was loaded before is still there. */
const MEMORY = /\b0x902\b|out of memory for object/i

async function ask(
  tpm: TpmWorld,
  folder: string,
  name: string,
  args: readonly string[],
): Promise<void> {
  const quiet = (file: string, more: readonly string[]) => tpm.tool(file, more, { folder })
  let ended: Ended = await quiet(name, ['-Q', ...args])
  if (ended.code !== 0 && MEMORY.test(ended.err)) {
    await quiet('tpm2_flushcontext', ['-t'])
    ended = await quiet(name, ['-Q', ...args])
  }
  if (ended.code === 0) return
  if (name === 'tpm2_load' && INTEGRITY.test(ended.err)) throw new KeyLost('the TPM has lost it')
  if (ended.code === null) throw new Error('tpm2-tools is not installed')
  throw new Error(`${name} failed`)
}

/** What is written there is sealed by the TPM or public; it goes all the same. */
async function inFolder<Made>(make: (folder: string) => Promise<Made>): Promise<Made> {
  const folder = await mkdtemp(join(tmpdir(), 'device-key-'))
  try {
    return await make(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
