/** Whether a password is the one of a hash. Every kind runs off the main thread. */
import { argon2, createHash, pbkdf2, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { BcryptThreads } from './bcrypt-threads.ts'
import type { HashShape, KnownHash } from './hash-shapes.ts'

const computeArgon2 = promisify(argon2)
const computePbkdf2 = promisify(pbkdf2)
const computeScrypt = promisify<string, Buffer, number, object, Buffer>(scrypt)

export async function isRightPassword(
  plain: string,
  { shape, salt, tag }: KnownHash,
  threads: BcryptThreads,
): Promise<boolean> {
  const computed = await compute(plain, shape, salt, threads)
  return computed.length === tag.length && timingSafeEqual(computed, tag)
}

async function compute(plain: string, shape: HashShape, salt: Buffer, threads: BcryptThreads) {
  switch (shape.kind) {
    case 'argon2':
      return computeArgon2(shape.variant, {
        message: plain,
        nonce: salt,
        parallelism: shape.lanes,
        tagLength: shape.tagBytes,
        memory: shape.memoryKib,
        passes: shape.passes,
      })
    case 'bcrypt': {
      const cost = String(shape.cost).padStart(2, '0')
      const settings = `$2b$${cost}$${salt.toString('utf8')}`
      const secret = shape.isDigested ? createHash('sha256').update(plain).digest('hex') : plain
      const text = await threads.hash({ plain: secret, salt: settings })
      return Buffer.from(text.slice(settings.length), 'utf8')
    }
    case 'scrypt': {
      const { rounds, blockSize, lanes } = shape
      const memory = 128 * blockSize * (rounds + lanes)
      const cost = { N: rounds, r: blockSize, p: lanes, maxmem: 2 * memory }
      return computeScrypt(plain, salt, shape.tagBytes, cost)
    }
    case 'pbkdf2':
      return computePbkdf2(plain, salt, shape.rounds, shape.tagBytes, shape.digest)
  }
}
