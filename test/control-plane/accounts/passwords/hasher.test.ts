import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'
import type * as Hasher from '../../../../control-plane/accounts/passwords/hasher.ts'
import { LIMITS } from '../../../../shared/limits.ts'

/** What argon2 is asked for, each time, by a copy of the module that is this file's own. */
const asked: unknown[] = []
const { argon2 } = crypto
const counted: Argon2 = (algorithm, parameters, callback) => {
  const { memory, passes, parallelism, tagLength, nonce } = parameters
  asked.push({ algorithm, memory, passes, parallelism, tagLength, salt: nonce.length })
  argon2(algorithm, parameters, callback)
}
crypto.argon2 = counted as typeof argon2
syncBuiltinESMExports()
const HASHER = '../../../../control-plane/accounts/passwords/hasher.ts'
const { createPasswordHasher, hashesAtOnce } = (await import(
  new URL(`${HASHER}?counted`, import.meta.url).href
)) as typeof Hasher
crypto.argon2 = argon2
syncBuiltinESMExports()

type Given = Parameters<typeof argon2>
type Argon2 = (
  algorithm: Given[0],
  parameters: Given[1] & { readonly nonce: Buffer },
  callback: Given[2],
) => void

void t.test('a password verifies against its own hash only', async (t) => {
  const { hash, verify } = createPasswordHasher()
  const encoded = await hash('correct horse')
  t.match(encoded, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  t.not(await hash('correct horse'), encoded, 'each with its own salt')
  t.equal(await verify('correct horse', encoded), true)
  for (const wrong of ['', 'correct hors', 'correct horse ', 'Correct horse', 'correct horse\0'])
    t.equal(await verify(wrong, encoded), false, JSON.stringify(wrong))
})

void t.test('one password in two Unicode spellings is one password', async (t) => {
  const { hash, verify } = createPasswordHasher()
  t.equal(await verify('cafe\u0301 cafe\u0301', await hash('caf\u00e9 caf\u00e9')), true)
})

void t.test('hashes of the reference implementation verify', async (t) => {
  // argon2 CLI: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -l 32
  const reference =
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  const { verify } = createPasswordHasher()
  t.equal(await verify('password', reference), true)
  t.equal(await verify('passwort', reference), false)
})

void t.test('without a hash, or with a broken one, the answer is no', async (t) => {
  const { verify } = createPasswordHasher()
  const broken = [
    undefined,
    '',
    'x',
    '$argon2id$v=19$m=19456,t=2,p=1$',
    '$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
    `$argon2id$v=19$m=${LIMITS.passwordMemoryKibMax + 1},t=2,p=1$c29tZXNhbHRzb21lc2FsdA$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc`,
    '$argon2id$v=19$m=19456,t=99,p=1$c29tZXNhbHRzb21lc2FsdA$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  ]
  for (const encoded of broken) t.equal(await verify('password', encoded), false, encoded ?? 'none')
})

void t.test('whether an account exists takes the same time to find out', async (t) => {
  const { hash, verify } = createPasswordHasher()
  const encoded = await hash('correct horse')
  asked.length = 0
  for (const against of [encoded, undefined, 'broken']) await verify('wrong', against)
  const ours = { algorithm: 'argon2id', memory: 19_456, passes: 2, parallelism: 1 }
  t.strictSame(asked, Array(3).fill({ ...ours, tagLength: 32, salt: 16 }), 'the same is computed')
})

void t.test('a flood waits in a queue, and past its end is refused at once', async (t) => {
  const { verify } = createPasswordHasher({ concurrency: 1, waitingMax: 3 })
  const flood = Array.from({ length: 1 + 3 }, () => verify('x', 'broken'))
  await t.rejects(verify('x', 'broken'), { code: 'unavailable', fields: { retry_after: 1 } })
  t.strictSame(new Set(await Promise.all(flood)), new Set([false]))
  t.equal(await verify('x', undefined), false, 'and afterwards there is room again')
})

void t.test('a flood at one tenant leaves room in the queue for the others', async (t) => {
  const { verify } = createPasswordHasher({ concurrency: 1, waitingMax: 4, waitingPerTenantMax: 2 })
  const flood = Array.from({ length: 1 + 2 }, () => verify('x', 'broken', 'acme'))
  await t.rejects(verify('x', 'broken', 'acme'), { code: 'unavailable' })
  const others = Array.from({ length: 2 }, () => verify('x', 'broken', 'bolt'))
  const newcomer = verify('x', 'broken', 'cody')
  const settled = await Promise.allSettled([...flood, ...others, newcomer])
  const [displaced] = settled.splice(2, 1)
  t.match(displaced, { reason: { code: 'unavailable' } }, 'the queue has its end, for who has most')
  for (const one of settled) t.match(one, { value: false })
  t.equal(await verify('x', undefined, 'acme'), false, 'and afterwards there is room again')
})

void t.test('so does one of those who choose a password', async (t) => {
  const { hash } = createPasswordHasher({ concurrency: 1, waitingMax: 4, waitingPerTenantMax: 2 })
  const flood = Array.from({ length: 1 + 2 }, () => hash('a long walk', 'acme'))
  await t.rejects(hash('a long walk', 'acme'), { code: 'unavailable' })
  t.match(await hash('a long walk', 'bolt'), /^\$argon2id\$/)
  t.equal((await Promise.all(flood)).length, 3)
})

void t.test('a core is left for everything else, and one of four threads', async (t) => {
  t.strictSame([1, 2, 3, 4, 64].map(hashesAtOnce), [1, 1, 2, 3, 3])
})
