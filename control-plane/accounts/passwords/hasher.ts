/**
 * Passwords as argon2id in PHC strings. Each takes 19 MiB and a thread, so they are computed in
 * turns: a flood of sign-ins must not take the memory or the threads that everything else needs.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  createFairSemaphore,
  type SemaphoreLimits,
  type FairSemaphore,
} from '../../concurrency/fair-semaphore.ts'
import { withoutTrailing } from '../../../shared/trailing.ts'

export interface PasswordHasher {
  /** `tenantId`: in whose turn. One tenant's crowd holds up nobody else's. */
  readonly hash: (plain: string, tenantId?: string) => Promise<string>
  /** Without `encoded` it computes all the same, so that timing does not tell who exists. */
  readonly verify: (
    plain: string,
    encoded: string | undefined,
    tenantId?: string,
  ) => Promise<boolean>
}

/** What one password costs. */
export interface PasswordCost {
  readonly memoryKib: number
  readonly passes: number
  readonly lanes: number
}

/** OWASP Password Storage Cheat Sheet: 19 MiB, two passes, one lane. */
const OURS: PasswordCost = { memoryKib: 19_456, passes: 2, lanes: 1 }
/** A core is left for everything else, and one of libuv's four threads: a hash has each for 30 ms. */
export const hashesAtOnce = (cores: number) => Math.min(3, Math.max(1, cores - 1))

const SALT_BYTES = 16
const TAG_BYTES = 32
const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,86})$/

const compute = promisify(argon2)

export function createPasswordHasher(
  limits: SemaphoreLimits = {},
  semaphore: FairSemaphore = createFairSemaphore(limits),
  cost: PasswordCost = OURS,
): PasswordHasher {
  const decoy = encode(cost, randomBytes(SALT_BYTES), randomBytes(TAG_BYTES))

  return {
    async hash(plain, tenantId) {
      const message = normalized(plain)
      if (message === undefined) throw new Refusal('field_invalid', { field: 'password' })
      const salt = randomBytes(SALT_BYTES)
      const tag = await semaphore.take(() => derive(message, cost, salt, TAG_BYTES), tenantId)
      return encode(cost, salt, tag)
    },
    async verify(plain, encoded, tenantId) {
      const known = parse(encoded ?? decoy) ?? parse(decoy)
      if (known === undefined) throw new Error('the decoy is not a password hash')
      const { parameters, salt, tag } = known
      const message = normalized(plain)
      if (message === undefined) return false // no account has it: that tells of none
      const computed = await semaphore.take(
        () => derive(message, parameters, salt, tag.length),
        tenantId,
      )
      const isEqual = timingSafeEqual(computed, tag)
      return isEqual && encoded !== undefined
    },
  }
}

/** What is hashed. Some characters are eighteen in this form; undefined where that is too long. */
export function normalized(plain: string): string | undefined {
  const message = plain.normalize('NFKC')
  return Buffer.byteLength(message) > LIMITS.passwordNormalizedBytesMax ? undefined : message
}

function derive(
  message: string,
  { memoryKib, passes, lanes }: PasswordCost,
  salt: Buffer,
  bytes: number,
) {
  return compute('argon2id', {
    message,
    nonce: salt,
    parallelism: lanes,
    tagLength: bytes,
    memory: memoryKib,
    passes,
  })
}

function encode({ memoryKib, passes, lanes }: PasswordCost, salt: Buffer, tag: Buffer): string {
  const settings = `m=${memoryKib},t=${passes},p=${lanes}`
  return `$argon2id$v=19$${settings}$${unpadded(salt)}$${unpadded(tag)}`
}

/** Bounded, since hashes may come from elsewhere one day: no record may ask for a gigabyte. */
function parse(encoded: string) {
  const match = PHC.exec(encoded)
  if (match === null) return undefined
  const [memoryKib = 0, passes = 0, lanes = 0] = match.slice(1, 4).map(Number)
  if (memoryKib > LIMITS.passwordMemoryKibMax || passes > 16 || memoryKib < 8 * lanes)
    return undefined
  if (passes < 1 || lanes < 1) return undefined
  const [salt, tag] = match.slice(4).map((part) => Buffer.from(part, 'base64'))
  if (salt === undefined || tag === undefined) return undefined
  return { parameters: { memoryKib, passes, lanes }, salt, tag }
}

const unpadded = (bytes: Buffer) => withoutTrailing(bytes.toString('base64'), '=')
