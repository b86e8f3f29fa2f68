/** The keys that agents know us by are those of the database, at each control plane. */
import { decodeProtectedHeader } from 'jose'
import t from 'tap'
import { ACTOR } from '../../support/control-plane.ts'
import { startTwo } from './nodes.ts'

t.test(
  'a key that has leaked signs nowhere once it is rotated, and nobody is told it',
  async (t) => {
    const { here, there } = await startTwo(t)
    const kidsAt = async ({ challengeKeys }: typeof here) =>
      (await challengeKeys.jwks()).keys.map(({ kid }) => kid)
    const [leaked, next] = await kidsAt(here)
    t.strictSame(await kidsAt(there), [leaked, next])
    const rotated = await here.challengeKeys.rotate({ force: true }, ACTOR)
    t.equal(rotated[0], next)
    t.strictSame(await kidsAt(there), rotated)
    const jws = await there.challengeKeys.sign('dev-update+jwt', {})
    t.equal(decodeProtectedHeader(jws).kid, next)
    const again = await there.challengeKeys.rotate({ force: true }, ACTOR)
    t.equal(again[0], rotated[1])
    t.strictSame(await kidsAt(here), again)
  },
)
