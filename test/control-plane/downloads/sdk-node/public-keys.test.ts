/** Keys from a file, from the service, or both; through rotation and outage. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createPublicKeys } from '../../../../control-plane/downloads/sdk-node/public-keys.ts'
import { claimsWorld, jwkOf, pemOf, signingKey } from '../../../support/claims.ts'

const URL_OF_KEYS = 'https://service.example.test/tenants/acme/public-key'
const [first, second, third] = [signingKey(0), signingKey(1), signingKey(2)]

function keysOf(t: { testdir(): string }, source: { url?: boolean; file?: string }) {
  const world = claimsWorld([first])
  const path = join(t.testdir(), 'service_public.pem')
  if (source.file !== undefined) writeFileSync(path, source.file)
  const keys = createPublicKeys({
    ...world.options,
    steadyMs: world.options.nowMs,
    url: source.url === true ? URL_OF_KEYS : undefined,
    file: source.file === undefined ? undefined : path,
  })
  return { world, path, keys }
}

const names = (keys: ReadonlyMap<string, unknown> | undefined) => [...(keys?.keys() ?? [])].sort()
const kids = (...keys: { kid: string }[]) => keys.map(({ kid }) => kid).sort()

t.test('a file that has the keys needs no network', async (t) => {
  const { world, keys } = keysOf(t, { url: true, file: pemOf(first) + pemOf(second) })
  t.equal(keys.current(), undefined)
  t.same(names(await keys.load()), kids(first, second))
  t.same(names(keys.current()), kids(first, second))
  t.equal(world.asked, 0)
})

t.test('a key that the file has not is fetched, at most every ten seconds', async (t) => {
  const { world, keys } = keysOf(t, { url: true, file: pemOf(first) })
  await keys.load()
  world.keys = [first, second]
  t.same(names(await keys.lookAgain()), kids(first, second))
  world.keys = [first, second, third]
  for (let round = 0; round < 5; round++) t.same(names(await keys.lookAgain()), kids(first, second))
  t.equal(world.asked, 1)
  world.nowMs += 9_999
  await keys.lookAgain()
  t.equal(world.asked, 1)
  world.nowMs += 1
  t.same(names(await keys.lookAgain()), kids(first, second, third))
  t.equal(world.asked, 2)
})

t.test('beside a file, keys that came over plain http are not believed', async (t) => {
  const path = join(t.testdir(), 'service_public.pem')
  writeFileSync(path, pemOf(first))
  const over = (url: string, file?: string) => {
    const world = claimsWorld([first, second])
    const warnings: string[] = []
    const onWarning = (warning: string) => void warnings.push(warning)
    return {
      world,
      warnings,
      keys: createPublicKeys({
        ...world.options,
        steadyMs: world.options.nowMs,
        onWarning,
        url,
        file,
      }),
    }
  }
  const plain = URL_OF_KEYS.replace('https:', 'http:')
  const { world, warnings, keys } = over(plain, path)
  await keys.load()
  t.same(names(await keys.lookAgain()), kids(first))
  t.equal(world.asked, 0)
  t.match(warnings, [/new keys from .* are ignored .*https; update .*service_public\.pem/])
  writeFileSync(path, pemOf(first) + pemOf(second))
  world.nowMs += 10_000
  t.same(names(await keys.lookAgain()), kids(first, second), 'rotated by the file')

  for (const url of ['http://127.0.0.1:8080/x', 'http://localhost/x', 'http://[::1]/x']) {
    writeFileSync(path, pemOf(first))
    const here = over(url, path)
    await here.keys.load()
    t.same(names(await here.keys.lookAgain()), kids(first, second), `${url} leaves no machine`)
  }
  t.same(
    names(await over(plain).keys.load()),
    kids(first, second),
    'without a file there is no other',
  )
})

t.test('all who ask at once share one look', async (t) => {
  const { world, keys } = keysOf(t, { url: true })
  const loads = await Promise.all([keys.load(), keys.load(), keys.load()])
  t.equal(new Set(loads).size, 1)
  t.equal(world.asked, 1)
})

t.test('a file that is written anew is read for a key that is not known', async (t) => {
  const { path, world, keys } = keysOf(t, { file: pemOf(first) })
  await keys.load()
  writeFileSync(path, pemOf(second))
  world.nowMs += 10_000
  t.same(names(await keys.lookAgain()), kids(second))
})

t.test('keys are renewed every ten minutes, behind the requests', async (t) => {
  const { world, keys } = keysOf(t, { url: true })
  await keys.load()
  world.keys = [second]
  world.nowMs += 10 * 60_000 - 1
  keys.current()
  t.equal(world.asked, 1)
  world.nowMs += 1
  t.same(names(keys.current()), kids(first), 'nobody waits')
  while (keys.current()?.has(first.kid)) await new Promise((resolve) => setImmediate(resolve))
  t.same(names(keys.current()), kids(second), 'and what was retired is gone')
})

t.test('the same keys are the same object, so that proofs stay', async (t) => {
  const { world, keys } = keysOf(t, { url: true })
  const before = await keys.load()
  world.nowMs += 10_000
  t.equal(await keys.lookAgain(), before)
  t.equal(world.asked, 2)
})

t.test('what was good stays good while file and service fail', async (t) => {
  const { path, world, keys } = keysOf(t, { url: true, file: pemOf(first) })
  world.keys = [second]
  await keys.load()
  await keys.lookAgain()
  rmSync(path)
  world.isDown = true
  world.nowMs += 10_000
  t.same(names(await keys.lookAgain()), kids(first, second))
  writeFileSync(path, '-----BEGIN PUBLIC KEY-----\nbroken\n-----END PUBLIC KEY-----\n')
  world.nowMs += 10_000
  t.same(names(await keys.lookAgain()), kids(first, second))
  t.equal(world.warnings.length, 2)
})

t.test('a file without a key, and a service that is away, are told apart from none', async (t) => {
  const { world, keys } = keysOf(t, { url: true, file: 'nothing in here' })
  world.isDown = true
  await t.rejects(keys.load(), /contains no RSA public key; fetch failed/)
  await t.rejects(keys.load(), /no public keys loaded yet/, 'and nobody asks again at once')
  t.equal(world.asked, 1)
  world.isDown = false
  world.nowMs += 10_000
  t.same(names(await keys.load()), kids(first))
})

t.test('a clock that is set back does not stop the looking', async (t) => {
  const { world, keys } = keysOf(t, { url: true })
  await keys.load()
  world.keys = [first, second]
  world.nowMs -= 3600_000
  t.same(names(await keys.lookAgain()), kids(first, second))
})

t.test('answers that are no keys are refused, keys of another kind passed over', async (t) => {
  const answers = [
    Response.json({ keys: [jwkOf(first)], padding: 'x'.repeat(64 * 1024) }),
    new Response('{}', { status: 500 }),
    new Response('not json'),
    Response.json({ keys: [{ kty: 'EC', kid: 'a' }, null, 'x', { kty: 'RSA' }] }),
    Response.json([]),
    Response.json(null),
  ]
  for (const answer of answers) {
    const { world } = keysOf(t, { url: true })
    const fetch = async () => answer
    const keys = createPublicKeys({
      ...world.options,
      steadyMs: world.options.nowMs,
      fetch,
      url: URL_OF_KEYS,
      file: undefined,
    })
    await t.rejects(keys.load())
    t.equal(world.warnings.length, 1)
  }
})
