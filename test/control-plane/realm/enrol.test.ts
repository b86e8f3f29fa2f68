/** Setting up a second factor on the way in, because the policy demands one. */
import { decodeQR } from 'qr/decode.js'
import { encodeQR } from 'qr'
import t from 'tap'
import { createApp } from '../../../control-plane/app.ts'
import { ACTOR, ADA, Browser, startWorld, type World } from './realm-world.ts'
import {
  begin,
  codeAt,
  enrolApp,
  eventsOf,
  isAskingForCode,
  recordedSignIns,
  setPolicy,
} from './steps.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'

/** The key that the page gives to people who type. */
function keyIn(html: string): string {
  const [, key = ''] = /<code>((?:[A-Z2-7]{1,4} ?)+)<\/code>/.exec(html) ?? []
  return key.replaceAll(' ', '')
}

function recoveryCodesIn(html: string): string[] {
  return [...html.matchAll(/<code>([2-9A-Z]{5}-[2-9A-Z]{5})<\/code>/g)].map(([, code = '']) => code)
}

const appCode = (world: World, html: string) => codeAt(keyIn(html), world.clock.nowMs())

t.test('an app is set up, recovery codes are kept, and the next sign-in asks', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'required' })
  const person = await begin(world, acme)
  const page = await person.password()
  t.equal(page.response.status, 200)
  t.match(page.html, /Set up a second factor/)
  t.match(await eventsOf(world, 'signin.step_up'), [{ reason: 'enrolment_needed' }])

  const wrong = await person.send({ code: '000000' })
  t.equal(wrong.response.status, 422)
  t.equal(keyIn(wrong.html), keyIn(page.html), 'the app that has it already is still right')
  const reloaded = await person.browser.visit(person.page.url)
  t.equal(keyIn(reloaded.html), keyIn(page.html))

  const codes = await person.send({ code: appCode(world, page.html) })
  t.equal(recoveryCodesIn(codes.html).length, 10)
  await world.mails.deliver()
  t.match(world.sentMails, [{ text: /an authenticator app was added/ }])
  const { items } = await world.auditTrail.list(
    { limit: 50, cursor: undefined },
    { tenantId: 'acme' },
  )
  t.equal(items.filter(({ action }) => action === 'factor.added').length, 1)
  const again = await person.browser.visit(person.page.url)
  t.strictSame(recoveryCodesIn(again.html), recoveryCodesIn(codes.html), 'until they are kept')
  const claims = await person.claims((await person.send({ codes_saved: '1' })).url)
  t.match(claims, { acr: 'aal2', amr: ['pwd', 'otp', 'mfa'] })

  const next = await begin(world, acme)
  t.ok(isAskingForCode((await next.password()).html))
  const [code = ''] = recoveryCodesIn(codes.html)
  t.equal((await next.claims((await next.send({ code })).url)).acr, 'aal2')
  t.notOk(
    (await recordedSignIns(world)).some(({ isFailure }) => isFailure),
    'a typing error',
  )
})

t.test('the picture holds what the app needs, and the same key', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'required' })
  const { html } = await (await begin(world, acme)).password()
  const [svg = ''] = /<svg[^>]*viewBox="0 0 (\d+) \1"[^>]*>.*?<\/svg>/s.exec(
    html.slice(html.indexOf('class="qr"')),
  ) ?? ['']
  const uri = `otpauth://totp/${encodeURIComponent('The acme application')}:ada?issuer=${encodeURIComponent('The acme application')}&secret=${keyIn(html)}&algorithm=SHA1&digits=6&period=30`
  t.equal(svg, encodeQR(uri, 'svg', { border: 1 }).match(/<svg.*<\/svg>/s)?.[0])
  t.equal(decodeQR(bitmapOf(encodeQR(uri, 'raw'))), uri)
})

function bitmapOf(modules: boolean[][]) {
  const scale = 4
  const size = (modules.length + 8) * scale
  const data = new Uint8Array(size * size * 4).fill(255)
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const isDark = modules[Math.floor(y / scale) - 4]?.[Math.floor(x / scale) - 4]
      if (isDark) data.fill(0, (y * size + x) * 4, (y * size + x) * 4 + 3)
    }
  return { width: size, height: size, data }
}

t.test('a double click enrols once, and both answers show the same codes', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'required' })
  const person = await begin(world, acme)
  const code = appCode(world, (await person.password()).html)
  const [first, second] = await Promise.all([person.sendOnce({ code }), person.sendOnce({ code })])
  t.strictSame(recoveryCodesIn(first.html), recoveryCodesIn(second.html))
  t.equal(recoveryCodesIn(first.html).length, 10)
  const owner = { tenantId: 'acme', userId: acme.ada.userId }
  const listed = await world.factors.list(owner)
  t.equal(listed.filter(({ kind }) => kind === 'totp').length, 1)
  const [one, two] = await Promise.all([
    person.sendOnce({ codes_saved: '1' }),
    person.sendOnce({ codes_saved: '1' }),
  ])
  t.equal(one.response.status, 303)
  t.equal(two.response.status, 303)
  const { url } = await person.browser.visit(two.url)
  t.equal((await person.claims(url)).acr, 'aal2')
})

t.test('two tabs of one browser: the second asks for the factor of the first', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'required' })
  const browser = new Browser(world.baseUrl)
  const first = await begin(world, acme, {}, browser)
  const second = await begin(world, acme, {}, browser)
  const page = await first.password()
  await second.password()
  await first.send({ code: appCode(world, page.html) })
  const late = await second.send({ code: '123456' })
  t.match(late.html, /Confirm it&#39;s you/, 'not another enrolment')
  t.ok(isAskingForCode(late.html))
  await first.send({ codes_saved: '1' })
  const onward = await browser.visit(second.page.url)
  t.equal((await second.claims(onward.url)).acr, 'aal2')
})

t.test('whoever leaves before keeping the codes has a factor, and can sign in', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'required' })
  const person = await begin(world, acme)
  const { html } = await person.password()
  await person.send({ code: appCode(world, html) })
  const next = await begin(world, acme)
  await next.password()
  const code = codeAt(keyIn(html), world.clock.nowMs() + 30_000)
  t.equal((await next.claims((await next.send({ code })).url)).acr, 'aal2')
})

t.test(
  'a passkey is offered where a browser has them, with one script and a way around',
  async (t) => {
    const world = await startWorld(t, { hostname: 'localhost' })
    const acme = await world.tenant('acme')
    await setPolicy(world, 'mfa', { mode: 'required' })
    const person = await begin(world, acme)
    const page = await person.password()
    const script = `${acme.issuer}/passkey.js`
    t.match(page.html, `<script src="${script}" defer></script>`)
    t.match(page.html, /Passkeys need JavaScript/)
    t.match(page.response.headers.get('content-security-policy'), `script-src ${script};`)
    const { headers } = person.page.response
    const policy = headers.get('content-security-policy') ?? ''
    t.equal(policy.match(/script-src [^;]*/)?.[0], `script-src ${acme.issuer}/passkey.js`)
    const served = await person.browser.once(script)
    t.equal(served.headers.get('content-type'), 'text/javascript; charset=utf-8')
    for (const passkey of ['{}', 'null', '[', '{"id":"x","response":{}}']) {
      const answer = await person.send({ passkey })
      t.equal(answer.response.status, 422, passkey)
    }
    t.match((await person.send({ passkey: '' })).html, /Set up a second factor/, 'without a script')

    const byAddress = await startWorld(t)
    const beta = await byAddress.tenant('acme')
    await setPolicy(byAddress, 'mfa', { mode: 'required' })
    t.notMatch((await (await begin(byAddress, beta)).send(ADA)).html, 'passkey.js')
  },
)

t.test('who has lost everything is helped by the operator, and enrols anew', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'required' })
  await enrolApp(world, acme)
  const app = createApp(world, { operatorKey: createLiveKey('operator-key') })
  const call = (method: string, id = '') =>
    app.request(`/api/v1/operator/tenants/acme/users/${acme.ada.userId}/factors${id}`, {
      method,
      headers: { authorization: 'Bearer operator-key' },
    })
  const { items } = (await (await call('GET')).json()) as { items: Record<string, string>[] }
  t.equal(items.length, 11)
  t.notMatch(JSON.stringify(items), /secret|hash/i)
  const id = items.find(({ kind }) => kind === 'totp')?.factor_id
  t.equal((await call('DELETE', `/${id}`)).status, 204)
  t.equal((await call('DELETE', `/${id}`)).status, 404)
  t.same(await (await call('GET')).json(), { items: [], next: null }, 'the recovery codes too')
  t.match((await (await begin(world, acme)).password()).html, /Set up a second factor/)
  await world.users.remove('acme', acme.ada.userId, ACTOR)
  t.equal((await call('GET')).status, 404)
})
