import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import t from 'tap'
import {
  ACTOR,
  Browser,
  PASSWORD,
  relyingParty,
  signIn,
  startWorld,
  type TestTenant,
} from './realm-world.ts'
import { clockOf } from '../../support/clocks.ts'

async function published({ issuer }: TestTenant): Promise<JSONWebKeySet> {
  return (await (await fetch(`${issuer}/jwks`)).json()) as JSONWebKeySet
}

t.test('through all phases of a rotation every token that is alive is verifiable', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const tokens: string[] = []
  const signOnce = async () => {
    const { idToken } = await signIn(new Browser(world.baseUrl), acme)
    tokens.push(idToken)
  }
  const allVerify = async (phase: string) => {
    const keys = await published(acme)
    for (const key of keys.keys) t.notOk('d' in key || 'p' in key, 'public parts only')
    for (const token of tokens)
      await t.resolves(jwtVerify(token, createLocalJWKSet(keys), { issuer: acme.issuer }), phase)
    return keys.keys.map(({ kid }) => kid)
  }

  await signOnce()
  const [first] = await allVerify('one key')
  await world.keys.rotate('acme', { phase: 'prepare' }, ACTOR)
  await signOnce()
  const prepared = await allVerify('prepared')
  t.equal(prepared.length, 2, 'the next key is published before it signs')
  t.equal(prepared[0], first)
  await world.keys.rotate('acme', { phase: 'promote' }, ACTOR)
  await signOnce()
  const promoted = await allVerify('promoted')
  t.same([...promoted].sort(), [...prepared].sort(), 'the old key is still published')
  t.equal(promoted[0], prepared[1])
  await t.rejects(world.keys.rotate('acme', { phase: 'retire' }, ACTOR), 'sessions carry it')
  await world.keys.rotate('acme', { phase: 'retire', force: true }, ACTOR)
  const [, , newest = ''] = tokens
  tokens.splice(0, tokens.length, newest)
  t.same(await allVerify('retired'), [promoted[0]])
})

t.test('a rotation in the middle of a sign-in is not noticed', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  await world.keys.rotate('acme', { phase: 'prepare' }, ACTOR)
  const { url } = await browser.submit(page.url, { username: 'ada', password: PASSWORD })
  await world.keys.rotate('acme', { phase: 'promote' }, ACTOR)
  t.equal((await flow.finish(url)).claims()?.sub, acme.ada.userId)
})

t.test(
  'a new client secret counts at once, and the one before it until its time is over',
  async (t) => {
    let aheadMs = 0
    const world = await startWorld(t, { clock: clockOf(() => Date.now() + aheadMs) })
    const acme = await world.tenant('acme')
    const signInWith = (clientSecret: string) =>
      signIn(new Browser(world.baseUrl), { ...acme, clientSecret }).then(
        () => 'signed in',
        (error: { error?: string }) => error.error,
      )
    t.equal(await signInWith(acme.clientSecret), 'signed in', 'the realm is built by now')
    const { secret, previousUntilMs } = await world.tenants.rotateClientSecret('acme', 20, ACTOR)
    t.equal(await signInWith(secret), 'signed in')
    t.equal(await signInWith(acme.clientSecret), 'signed in', 'nobody is signed out')
    t.equal(await signInWith(`${secret}x`), 'invalid_client')

    aheadMs = (previousUntilMs ?? 0) - Date.now()
    t.equal(await signInWith(acme.clientSecret), 'invalid_client', 'whether a job has run or not')
    t.equal(await signInWith(secret), 'signed in')
  },
)

t.test(
  'of three client secrets the oldest is worth nothing, and with no overlap all but one',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const rotate = async (seconds: number) =>
      (await world.tenants.rotateClientSecret('acme', seconds, ACTOR)).secret
    const second = await rotate(3600)
    const third = await rotate(3600)
    const answers = async (...secrets: string[]) => {
      const taken: boolean[] = []
      for (const clientSecret of secrets)
        taken.push(
          await signIn(new Browser(world.baseUrl), { ...acme, clientSecret }).then(
            () => true,
            () => false,
          ),
        )
      return taken
    }
    t.strictSame(await answers(acme.clientSecret, second, third), [false, true, true])
    const fourth = await rotate(0)
    t.strictSame(await answers(second, third, fourth), [false, false, true])
  },
)
