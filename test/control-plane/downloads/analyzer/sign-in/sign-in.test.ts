/** Signing in by a code: what the service says is shown, and leads nowhere else. */
import t from 'tap'
import type { Api } from '../../../../../control-plane/downloads/analyzer/api.ts'
import { Problem } from '../../../../../control-plane/downloads/command-line/exit.ts'
import { browserCall } from '../../../../../control-plane/downloads/analyzer/sign-in/open-browser.ts'
import {
  isBelow,
  signInByCode,
} from '../../../../../control-plane/downloads/analyzer/sign-in/sign-in-by-code.ts'

const BASE = 'https://id.example.test/auth'
const KEY = {
  analyzer_key: 'sak_x',
  tenant_id: 'acme',
  mode: 'sdk',
  client_secret: 'scs_x',
} as const
type Answer = Awaited<ReturnType<Api['deviceToken']>> | Problem

function signIn(answers: readonly Answer[], page = `${BASE}/console/device?code=BCDF-GHJK`) {
  const said: string[] = []
  const hidden: string[] = []
  const polls: string[] = []
  let codes = 0
  const code = { user_code: 'BCDF-GHJK', verification_uri_complete: page, expires_in: 600 }
  const api = {
    deviceCode: async () => ({ ...code, device_code: `sdc_${++codes}`, interval: 0.001 }),
    async deviceToken(deviceCode: string) {
      const answer = answers[polls.push(deviceCode) - 1]
      if (answer === undefined || answer instanceof Problem) throw answer ?? new Error('too often')
      return answer
    },
  } as unknown as Api
  const done = signInByCode({
    api,
    baseUrl: BASE,
    folder: '/home/kim/shop',
    terminal: {
      remark: (text) => void said.push(text),
      during: (_label, work) => work(() => undefined),
    },
    environment: {},
    wantsBrowser: true,
    nowMs: () => 0,
    hide: (secret) => void hidden.push(secret),
  })
  return { done, said, hidden, polls }
}

const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error as Problem).code,
  )

t.test('address and code are shown, and the key comes when somebody has allowed it', async (t) => {
  const { done, said, hidden, polls } = signIn([{ pending: 'authorization_pending' }, { handedOut: KEY }]) // prettier-ignore
  t.strictSame(await done, KEY)
  t.match(
    said.join('\n'),
    `  ${BASE}/console/device?code=BCDF-GHJK\nCheck that it shows this code: BCDF-GHJK`,
  )
  t.strictSame(hidden, ['sak_x', 'scs_x'], 'what was handed out is shown nowhere')
  t.strictSame(polls, ['sdc_1', 'sdc_1'])
})

t.test('a code that has expired is followed by another one, three in all', async (t) => {
  const { done, polls } = signIn([{ pending: 'expired_token' }, { handedOut: KEY }])
  t.strictSame(await done, KEY)
  t.strictSame(polls, ['sdc_1', 'sdc_2'])
  const late = signIn(Array.from({ length: 9 }, () => ({ pending: 'expired_token' as const })))
  t.equal(await problemOf(late.done), 'sign_in_expired')
  t.equal(late.polls.length, 3)
})

t.test('a no is a no, and a key that is refused is not asked for again', async (t) => {
  t.equal(await problemOf(signIn([{ pending: 'access_denied' }]).done), 'sign_in_denied')
  const wrong = signIn([new Problem('key_refused', 'no')])
  t.equal(await problemOf(wrong.done), 'key_refused')
  t.equal(wrong.polls.length, 1)
})

t.test('a page that is not the service’s own is neither opened nor shown', async (t) => {
  for (const page of [
    'https://evil.example/console/device',
    'https://id.example.test/console/device',
    'https://id.example.test.evil.example/auth/console',
    'https://kim@id.example.test/auth/console',
    'https://id.example.test/auth/../console',
    'http://id.example.test/auth/console',
    'javascript:alert(1)',
    'file:///etc/passwd',
    '--new-window',
  ]) {
    t.notOk(isBelow(BASE, page), page)
    const { done, said } = signIn([{ handedOut: KEY }], page)
    t.equal(await problemOf(done), 'not_the_service')
    t.strictSame(said, [])
  }
  t.ok(isBelow(BASE, `${BASE}/console/device?code=X`))
  t.ok(isBelow('http://localhost:8080', 'http://localhost:8080/console/device'))
})

t.test('a browser is opened by a program of the system, where there is a screen', async (t) => {
  const page = `${BASE}/console/device`
  t.strictSame(browserCall(page, 'linux', { DISPLAY: ':0' }), ['xdg-open', page])
  t.strictSame(browserCall(page, 'linux', { WAYLAND_DISPLAY: 'w' }), ['xdg-open', page])
  t.equal(browserCall(page, 'linux', {}), null)
  t.strictSame(browserCall(page, 'darwin', {}), ['open', page])
  t.equal(browserCall(page, 'darwin', { SSH_CONNECTION: '1' }), null)
  t.equal(browserCall(page, 'win32', {})?.at(-1), page)
})
