import t from 'tap'
import { createBcryptThreads } from '../../../control-plane/user-directory/hashes/bcrypt-threads.ts'
import { isRightPassword } from '../../../control-plane/user-directory/hashes/hash-check.ts'
import { parseHash } from '../../../control-plane/user-directory/hashes/hash-formats.ts'
import {
  COST_MAX,
  decoyOf,
  shapeText,
} from '../../../control-plane/user-directory/hashes/hash-shapes.ts'
import { FOREIGN_HASHES, FOREIGN_PASSWORD } from './foreign-hashes.ts'

const threads = createBcryptThreads()
t.teardown(() => threads.close())

function known(encoded: string) {
  const hash = parseHash(encoded)
  if (hash === undefined) throw new Error(`not read: ${encoded}`)
  return hash
}

for (const [name, encoded] of Object.entries(FOREIGN_HASHES)) {
  t.test(`${name}: the right password is right, another one is not`, async (t) => {
    t.equal(await isRightPassword(FOREIGN_PASSWORD, known(encoded), threads), true)
    t.equal(await isRightPassword(`${FOREIGN_PASSWORD}x`, known(encoded), threads), false)
    t.equal(await isRightPassword('', known(encoded), threads), false)
  })

  t.test(`${name}: a decoy costs the same and is never right`, async (t) => {
    const { shape } = known(encoded)
    const decoy = decoyOf(shape)
    t.equal(shapeText(decoy.shape), shapeText(shape))
    t.equal(decoy.tag.length, shape.tagBytes)
    t.equal(await isRightPassword(FOREIGN_PASSWORD, decoy, threads), false)
  })
}

t.test('what is no hash, or a broken one, is not read', async (t) => {
  const wrong = [
    '',
    FOREIGN_PASSWORD,
    '5f4dcc3b5aa765d61d8327deb882cf99', // MD5
    '{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=',
    '$1$abcdefgh$irWbblnpmw.5z7wgBnprh0',
    '$6$abcdefgh$abcdefghijklmnop',
    '$2x$05$CFfTF3sUVEJuktxhx/giBOdYDywpCP18w3kHOTmu9kdEjdoS7sp12', // the broken variant
    '$2a$05$CFfTF3sUVEJuktxhx/giBOdYDywpCP18w3kHOTmu9kdEjdoS7sp1',
    '$argon2id$v=16$m=2048,t=2,p=2$MDEyMzQ1Njc4OWFiY2RlZg$7g+Ar+sGPx/EmVSzB6AJ+wnVmfsxrLIF',
    'pbkdf2_sha256$20000$salt$YWJj', // a result of three bytes
    '$scrypt$ln=10,r=8,p=1$bq0VQgiBkNJ6DyEkZGxNyQ$',
    `pbkdf2_sha256$20000$${'s'.repeat(2000)}$35T9ZGSq7vt45sEtUd+TESZggBebX84QOgrUK9R+o7g=`,
  ]
  for (const encoded of wrong) t.equal(parseHash(encoded), undefined, encoded.slice(0, 60))
})

/**
 * The attack: whoever can write one record of the directory asks for a gigabyte and a minute, and
 * signs in to it again and again.
 */
t.test('a hash that costs more than a sign-in may is not computed', async (t) => {
  const salt = 'MDEyMzQ1Njc4OWFiY2RlZg'
  const tag = '7g+Ar+sGPx/EmVSzB6AJ+wnVmfsxrLIFmihPKgUV+gs'
  const argon = (m: number, passes: number, p: number) =>
    parseHash(`$argon2id$v=19$m=${m},t=${passes},p=${p}$${salt}$${tag}`) !== undefined
  t.equal(argon(COST_MAX.memoryKib, 4, 1), true)
  t.equal(argon(COST_MAX.memoryKib + 1, 1, 1), false)
  t.equal(argon(COST_MAX.memoryKib, 5, 1), false)
  t.equal(argon(65_536, 1, COST_MAX.argon2Lanes), true)
  t.equal(argon(65_536, 1, COST_MAX.argon2Lanes + 1), false)
  t.equal(argon(0, 1, 1), false)
  t.equal(argon(1024, 0, 1), false)

  const bcrypt = (cost: string) =>
    parseHash(`$2b$${cost}$d32DFJIqwkd7HrcmwSjQi.YVuK9KE8zQBjNoYLpqa9F8LkFQgG.Yi`) !== undefined
  t.same(['03', '04', '14', '15', '31'].map(bcrypt), [false, true, true, false, false])

  const scrypt = (ln: number, r: number, p: number) =>
    parseHash(`$scrypt$ln=${ln},r=${r},p=${p}$${salt}$${tag}`) !== undefined
  t.equal(scrypt(18, 8, 1), true)
  t.equal(scrypt(19, 8, 1), false)
  t.equal(scrypt(18, 8, 2), true)
  t.equal(scrypt(18, 8, 3), false)
  t.equal(scrypt(0, 8, 1), false)
  t.equal(parseHash(`scrypt$1000$salt$8$1$${tag}=`), undefined, 'no power of two')

  const pbkdf2 = (rounds: number) => parseHash(`pbkdf2_sha256$${rounds}$salt$${tag}=`) !== undefined
  t.equal(pbkdf2(COST_MAX.pbkdf2Rounds), true)
  t.equal(pbkdf2(COST_MAX.pbkdf2Rounds + 1), false)
  t.equal(pbkdf2(0), false)

  const long = Buffer.alloc(COST_MAX.tagBytes).toString('base64')
  t.not(parseHash(`pbkdf2_sha256$1000$salt$${long}`), undefined)
  const longer = Buffer.alloc(COST_MAX.tagBytes + 1).toString('base64')
  t.equal(parseHash(`pbkdf2_sha256$1000$salt$${longer}`), undefined)
})

t.test('several bcrypt hashes at once each get their own answer', async (t) => {
  const hash = known(FOREIGN_HASHES['bcrypt 2b'])
  const tries = [FOREIGN_PASSWORD, 'a', FOREIGN_PASSWORD, 'b', 'c', FOREIGN_PASSWORD]
  const answers = await Promise.all(tries.map((plain) => isRightPassword(plain, hash, threads)))
  t.same(answers, [true, false, true, false, false, true])
})
