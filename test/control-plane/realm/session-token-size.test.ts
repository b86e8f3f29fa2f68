/** Nobody is kept out by what they are called, however long it is. */
import t from 'tap'
import { fitClaims } from '../../../control-plane/tenants/token-size.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, Browser, PASSWORD, signIn, startWorld } from './realm-world.ts'

const LONG = '漢'.repeat(LIMITS.nameCharactersMax)
const RARE = '𠀀'.repeat(LIMITS.nameCharactersMax / 2)
const ESCAPED = '"\\'.repeat(LIMITS.nameCharactersMax / 2)
const DOMAIN = '@example.test'
const LONG_EMAIL = `${'漢'.repeat(LIMITS.emailCharactersMax - DOMAIN.length)}${DOMAIN}`
const PLAIN_EMAIL = `${'m'.repeat(LIMITS.emailCharactersMax - DOMAIN.length)}${DOMAIN}`

t.test('with the longest of everything, people sign in', async (t) => {
  const world = await startWorld(t)
  const tenantId = 'a'.repeat(63)
  const acme = await world.tenant(tenantId)
  const people = [
    ['ada.short', 'Ada', 'a@b'],
    ['long', LONG, 'long@example.test'],
    ['rare', RARE, PLAIN_EMAIL],
    ['escaped', ESCAPED, `e${PLAIN_EMAIL.slice(1)}`],
    ['u'.repeat(LIMITS.usernameCharactersMax), LONG, LONG_EMAIL],
  ] as const
  for (const [username, name, email] of people) {
    await world.users.create(tenantId, { username, name, email, password: PASSWORD }, ACTOR)
    const signedIn = await signIn(
      new Browser(world.baseUrl),
      acme,
      {},
      {
        username,
        password: PASSWORD,
      },
    )
    const { claims, tokens } = signedIn
    const shown = claims['name'] as string
    t.ok(Buffer.byteLength(tokens.id_token ?? '') <= LIMITS.sessionTokenBytesMax, username)
    t.ok(shown.length > 1 && name.startsWith(shown), 'of the name all that fits')
    t.ok(shown.isWellFormed())
    t.ok([email, undefined].includes(claims.email as string | undefined), 'an address is whole')
  }
})

t.test('of the claims nothing else goes, and no more than has to', (t) => {
  const sub = 'usr_1'
  const bytesOf = (claims: object) => Buffer.byteLength(JSON.stringify(claims))
  for (const name of ['Ada', LONG, RARE, ESCAPED, '\u007f'.repeat(9), ''])
    for (const email of ['a@b', LONG_EMAIL, PLAIN_EMAIL, undefined]) {
      const claims = { sub, name, ...(email !== undefined && { email }) }
      for (let bytesMax = bytesOf({ sub }); bytesMax <= bytesOf(claims) + 1; bytesMax += 1) {
        const fitting: { sub: string; name?: string; email?: string } = fitClaims(claims, bytesMax)
        const isFit = bytesOf(fitting) <= bytesMax && fitting.sub === sub
        const isHonest =
          [email, undefined].includes(fitting.email) &&
          name.startsWith(fitting.name ?? '') &&
          (fitting.name ?? 'x') !== '' &&
          (fitting.name ?? '').isWellFormed()
        if (!isFit || !isHonest) t.fail(`${bytesMax}: ${JSON.stringify(fitting)}`)
      }
      t.same(
        fitClaims(claims, bytesOf(claims)),
        name === '' ? { sub, ...(email && { email }) } : claims,
      )
    }
  t.end()
})
