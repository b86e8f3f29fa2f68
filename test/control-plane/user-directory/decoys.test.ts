import t from 'tap'
import { createDecoys } from '../../../control-plane/user-directory/decoys.ts'
import { parseHash } from '../../../control-plane/user-directory/hashes/hash-formats.ts'
import {
  shapeText,
  type HashShape,
} from '../../../control-plane/user-directory/hashes/hash-shapes.ts'
import { FOREIGN_HASHES } from './foreign-hashes.ts'

const KEY = Buffer.alloc(32, 7)

function shapeOf(encoded: string): HashShape {
  const shape = parseHash(encoded)?.shape
  if (shape === undefined) throw new Error(encoded)
  return shape
}
const bcrypt = shapeOf(FOREIGN_HASHES['bcrypt 2b'])
const scrypt = shapeOf(FOREIGN_HASHES['passlib scrypt'])
const logins = Array.from({ length: 64 }, (_, at) => `nobody-${at}`)

t.test('who does not exist costs what the others of the directory cost', async (t) => {
  const decoys = createDecoys(KEY, [])
  t.equal(decoys.for('nobody').shape.kind, 'argon2', 'before anybody is known')
  decoys.learn(bcrypt)
  for (const login of logins) t.equal(shapeText(decoys.for(login).shape), shapeText(bcrypt))
  const known = createDecoys(KEY, [scrypt])
  t.equal(shapeText(known.for('nobody').shape), shapeText(scrypt), 'from the dry run')
})

t.test('of several kinds a login always meets the same, and no login tells which', async (t) => {
  const kinds = () => {
    const decoys = createDecoys(KEY, [bcrypt, scrypt])
    return logins.map((login) => decoys.for(login).shape.kind)
  }
  t.same(kinds(), kinds())
  t.same(new Set(kinds()), new Set(['bcrypt', 'scrypt']))
  const other = createDecoys(Buffer.alloc(32, 8), [bcrypt, scrypt])
  t.notSame(
    logins.map((login) => other.for(login).shape.kind),
    kinds(),
  )
})

t.test('a directory with many kinds is not remembered without end', async (t) => {
  const decoys = createDecoys(KEY, [])
  const many = Array.from({ length: 20 }, (_, at) => ({
    ...bcrypt,
    cost: 4 + (at % 10),
    tagBytes: 20 + at,
  }))
  for (const shape of many) decoys.learn(shape)
  const seen = new Set(
    Array.from({ length: 2000 }, (_, at) => shapeText(decoys.for(`${at}`).shape)),
  )
  t.equal(seen.size, 8)
})
