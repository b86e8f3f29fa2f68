/** Whether the application has the public keys that the service publishes, and no others. */
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { BASE_URL, check, checkAll, folderWith, KEY_PATH } from './project-here.ts'

const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const [current, next, foreign] = [pair(), pair(), pair()].map(({ publicKey }) =>
  publicKey.export({ type: 'spki', format: 'pem' }).toString(),
) as [string, string, string]

function published(keys: Readonly<Record<string, string>>) {
  const asked: string[] = []
  const fetchNow = (async (url: string) => {
    asked.push(url)
    return Response.json({
      keys: Object.entries(keys).map(([status, pem]) => ({ status, pem })),
    })
  }) as typeof fetch
  return { asked, world: { fetch: fetchNow } }
}

const keyFile = (text: string) => ({ 'service_public.pem': text })
const FETCH_AGAIN = `curl -fsS -H 'Accept: application/x-pem-file' ${BASE_URL}${KEY_PATH} -o service_public.pem`

t.test('what the service publishes is right, and anything else is not', async (t) => {
  const both = { current, next }
  const cases: [string, string, Record<string, string>, string, RegExp][] = [
    ['all of them', current + next, both, 'pass', /matches the published keys \(2 keys\)/],
    ['the one', current, { current }, 'pass', /\(one key\)/],
    [
      'with text around',
      `# of acme\r\n${current.replaceAll('\n', '\r\n')}`,
      { current },
      'pass',
      /one/,
    ],
    [
      'without the next',
      current,
      both,
      'warn',
      /lacks the key that is next; the middleware fetches/,
    ],
    ['without the current', next, both, 'fail', /lacks the key that the service signs with now/],
    ['of somebody else', foreign, { current }, 'fail', /does not publish, from another tenant/],
    [
      'with an old one',
      current + foreign,
      { current },
      'warn',
      /one key that the service no longer/,
    ],
  ]
  for (const [name, file, keys, status, detail] of cases) {
    const { world, asked } = published(keys)
    const found = await check(t, 'key_installed', keyFile(file), { world })
    t.match(found, { status, detail }, name)
    t.strictSame(asked, [`${BASE_URL}${KEY_PATH}`])
    t.equal(found.nextAction, status === 'pass' ? '' : FETCH_AGAIN)
  }
})

t.test('a file that is no public key is told from one that is not there', async (t) => {
  const { world } = published({ current })
  const { privateKey } = pair()
  const secret = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const found = await check(t, 'key_installed', keyFile(secret), { world })
  t.match(found, { status: 'fail', detail: /contains a private key/, nextAction: /rotate/ })
  t.notMatch(JSON.stringify(found), /MII/)
  for (const text of ['', 'hello', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'])
    t.match(await check(t, 'key_installed', keyFile(text), { world }), {
      status: 'fail',
      detail: /contains no readable public key/,
    })
  t.match(await check(t, 'key_installed', { 'package.json': '{}' }, { world }), {
    status: 'warn',
    detail: /service_public\.pem does not exist: the application fetches/,
    nextAction: FETCH_AGAIN,
  })
  const application = { framework: 'django', language: 'python' } as const
  t.match(await check(t, 'key_installed', { 'manage.py': '' }, { world, application }), {
    status: 'warn',
    detail: /fetches the keys with its first request/,
  })
})

t.test('it is looked for where the application looks for it', async (t) => {
  const { world } = published({ current })
  const root = folderWith(t, { 'apps/web/keys/own.pem': current, 'apps/web/package.json': '{}' })
  for (const file of ['keys/own.pem', join(root, 'apps/web/keys/own.pem')]) {
    const environment = { SERVICE_PUBLIC_KEY_FILE: file }
    const wish = { application: { folder: 'apps/web' }, world: { ...world, environment } }
    t.match((await checkAll(root, wish)).of('key_installed'), { status: 'pass' }, file)
  }
})

t.test('without the service it says what it could not compare', async (t) => {
  t.match(await check(t, 'key_installed', keyFile(current)), {
    status: 'warn',
    detail: /could not be compared: the service cannot be reached/,
  })
  const answers: [Response, RegExp][] = [
    [new Response('', { status: 404 }), /before it is published/],
    [new Response('', { status: 503 }), /returned 503/],
    [Response.json({ keys: 'x' }), /returned no key/],
    [new Response('x'.repeat(100_000)), /returned no key/],
  ]
  for (const [answer, detail] of answers) {
    const world = { fetch: (async () => answer) as typeof fetch }
    t.match(await check(t, 'key_installed', keyFile(current), { world }), {
      status: 'warn',
      detail,
    })
  }
  t.match(await check(t, 'key_installed', {}, { tenant: { mode: 'sdk' } }), { status: 'skip' })
})
