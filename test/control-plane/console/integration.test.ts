/** The page Integration: secrets, code, guide, checks, going live and back; by the answers it gives. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { upsertChecks } from '../../../control-plane/store/queries/verification.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'

const PAGE = '/console/tenants/acme/integration'
const SECRETS = ['analyzer-key', 'client-secret'] as const
const PREFIX = { 'analyzer-key': /sak_[\w-]{43}/, 'client-secret': /scs_[\w-]{43}/ } as const

type Console = Awaited<ReturnType<typeof startConsole>>

/** As the platform, or the tool, would have found it just now. */
async function found(
  { services }: Console,
  check: string,
  status: 'pass' | 'fail' = 'pass',
  more: Record<string, unknown> = {},
) {
  await services.store.change(({ queries, nowMs }) =>
    upsertChecks(queries, [
      {
        tenantId: 'acme',
        check,
        status,
        detail: `found out about ${check}`,
        nextAction: status === 'fail' ? `mend ${check}` : '',
        source: 'platform',
        at: nowMs,
        ...more,
      },
    ]),
  )
}

void t.test('a secret is shown in the answer to a form, to who has just signed in', async (t) => {
  const clock = movableClock()
  const { services, person } = await startConsole(t, { clock })
  const ada = await person('acme')
  for (const name of SECRETS) {
    const path = `${PAGE}/${name}`
    for (const page of [PAGE, path]) t.notMatch((await ada.get(page)).text, PREFIX[name], page)
    const shown = await ada.post(`${path}/show`)
    t.equal(shown.status, 200)
    t.match(shown.text, PREFIX[name])
    t.equal(shown.headers.get('cache-control'), 'no-store')
    const [secret = ''] = PREFIX[name].exec(shown.text) ?? []
    if (name === 'analyzer-key')
      t.equal((await services.tenants.byAnalyzerKey(secret))?.tenantId, 'acme')
    else t.equal(await services.tenants.clientSecret('acme'), secret)
    const { items } = await services.auditTrail.list({ limit: 1 }, { tenantId: 'acme' })
    t.match(items[0], { action: `${name.replace('-', '_')}.shown`, actor: /^console:/ })
    t.notMatch(JSON.stringify(items), secret)
    clock.advance(LIMITS.consoleFreshMs + 1)
    t.match(await ada.get(path), { status: 302, location: /fresh=yes/ })
    for (const action of ['show', 'replace']) {
      const late = await ada.post(`${path}/${action}`, { overlap_seconds: '0' })
      t.match(late, { status: 403, text: /Sign in again/ })
      t.notMatch(late.text, PREFIX[name])
    }
    clock.advance(-LIMITS.consoleFreshMs - 1)
  }
})

void t.test(
  'a secret is replaced once, and the page says until when the old one counts',
  async (t) => {
    const clock = movableClock()
    const { services, person } = await startConsole(t, { clock })
    const { tenants } = services
    const ada = await person('acme')
    const { secret: first } = await tenants.showAnalyzerKey('acme', ACTOR)
    const form_id = services.consoleAccess.proofs.newFormId(ada.userId)
    const path = `${PAGE}/analyzer-key`
    const replaced = await ada.post(`${path}/replace`, { overlap_seconds: '3600', form_id })
    t.match(replaced, { status: 200, text: /Analyzer key replaced/ })
    t.match(replaced.text, /stays valid until.*2026-01-01 01:00 UTC/s)
    t.match(replaced.text, /Gateways receive this tenant once it is published/, 'the receipt')
    const [second = ''] = PREFIX['analyzer-key'].exec(replaced.text) ?? []
    const again = await ada.post(`${path}/replace`, { overlap_seconds: '3600', form_id })
    t.match(again, { status: 200, text: second }, 'sent twice it does nothing more, and shows it')
    t.equal((await tenants.byAnalyzerKey(first))?.tenantId, 'acme')
    t.equal((await tenants.byAnalyzerKey(second))?.tenantId, 'acme')
    for (const page of [PAGE, path])
      t.match((await ada.get(page)).text, /2026-01-01 01:00 UTC/, page)
    t.match((await ada.get(path)).text, /is revoked now:<\/b> at most two/)
    clock.advance(3600_000)
    t.equal(await tenants.byAnalyzerKey(first), undefined)
    const later = await person('acme')
    t.notMatch((await later.get(PAGE)).text, '01:00 UTC')
    for (const wrong of ['-1', 'x', String(LIMITS.secretOverlapSecondsMax + 1)]) {
      const refused = await later.post(`${path}/replace`, { overlap_seconds: wrong })
      t.match(refused, { status: 422, text: /overlap_seconds-error/ }, wrong)
    }
    t.equal((await tenants.byAnalyzerKey(second))?.tenantId, 'acme', 'and nothing was replaced')
  },
)

void t.test('code to paste is for the mode and the framework that were chosen', async (t) => {
  const { services, person } = await startConsole(t)
  const ada = await person('acme')
  const first = await ada.get(PAGE)
  t.match(first.text, 'verifyClaims({', 'behind the edge, since that is its mode')
  t.match(first.text, /process\.env\.SERVICE_TENANT_ID \?\? &#39;acme&#39;/)
  t.notMatch(first.text, 'SERVICE_CLIENT_SECRET=…')
  const sdk = await ada.get(`${PAGE}?framework=fastify&place=sdk`)
  t.match(sdk.text, /import \{ enforce \} from &#39;service-node&#39;/)
  t.match(sdk.text, 'import fastify from')
  t.match(sdk.text, 'SERVICE_CLIENT_SECRET=…')
  t.match(sdk.text, /href="[^"]*framework=fastify[^"]*" aria-current="true">Fastify/)
  const django = await ada.get(`${PAGE}?framework=django&place=edge`)
  t.match(django.text, /&#39;SERVICE_TENANT_ID&#39;, &#39;acme&#39;/)
  const go = await ada.get(`${PAGE}?framework=go&place=sdk`)
  t.match(go.text, /no SDK for Go/)
  const unknown = await ada.get(`${PAGE}?framework=__proto__&place=constructor`)
  t.match(unknown, { status: 200, text: /import express from/ })
  await services.tenants.patch('acme', { mode: 'sdk' }, ACTOR)
  t.match((await ada.get(PAGE)).text, /import \{ enforce \}/, 'its own mode comes first')
  t.match(
    first.text,
    /cli\/install \| sh\nservice-analyzer setup.*service-analyzer login.*Analyzer key/s,
    'one command first, the key behind it',
  )
  for (const [, command] of [...first.text.matchAll(/<code>(service-analyzer [a-z-]+)<\/code>/g)])
    t.match(command, /setup|login|analyze|apply|verify|undo|complete/)
})

void t.test(
  'the stored guide is a diff with who wrote it, and hostile text is only text',
  async (t) => {
    const console = await startConsole(t)
    const { services, person } = console
    const ada = await person('acme')
    t.match((await ada.get(PAGE)).text, /No guide yet/)
    const evil = '</pre><script>alert(1)</script>'
    await services.store.change((change) =>
      services.guides.keep(change, 'acme', {
        guide_id: 'guide-1',
        framework: 'koa',
        model: `model-9 ${evil}`,
        summary: `Mounts it ${evil}`,
        warnings: [`Careful ${evil}`],
        commands: [`npm install ${evil}`],
        notes: ['Look at the proxy \u202e settings'],
        edits: [
          {
            path: 'server.mjs',
            action: 'modify',
            find: `const app = new Koa()\nkept()\ngone(${evil})\n`,
            replace: 'const app = new Koa()\nkept()\napp.use(service.koa())\n',
            why: evil,
          },
          { path: 'new.mjs', action: 'create', content: 'one\n'.repeat(300), why: '' },
        ],
      }),
    )
    const { text } = await ada.get(PAGE)
    t.notMatch(text, '<script>alert')
    t.match(text, /Model.*model-9/s)
    t.match(text, '<ins><span class="unseen">added: </span>app.use(service.koa())</ins>')
    t.match(text, '<del><span class="unseen">removed: </span>gone(&lt;/pre&gt;')
    t.match(text, '<span class="same">kept()</span>')
    t.match(text, '100 more lines', 'a long one is cut, and says so')
    t.equal(text.split('added: </span>one').length - 1, 200)
    t.match(text, /proxy &lt;U\+202E&gt; settings/, 'what nobody sees is written out')
    t.match(text, 'import Koa from', 'and the code to paste is of its framework')
  },
)

void t.test('checks say who looked, when, and what to do', async (t) => {
  const clock = movableClock()
  const console = await startConsole(t, { clock })
  const { services, person } = console
  t.match((await (await person('acme')).get(PAGE)).text, /No checks yet/)
  await services.tenants.publish('acme', ACTOR)
  await found(console, 'middleware_mounted')
  await found(console, 'key_installed', 'fail')
  await found(console, 'health_path', 'fail', { source: 'self_report', detail: '<b>hi</b>' })
  clock.advance(LIMITS.verificationValidMs)
  const { text } = await (await person('acme')).get(PAGE)
  t.match(text, /Middleware is mounted.*Passed.*1 day ago.*Too old to go live/s)
  t.match(text, /Application has the public key.*Failed.*Next step:<\/b> mend key_installed/s)
  t.match(text, /Health path.*&lt;b&gt;hi.*Command-line tool/s)
  t.match(text, /This service/)
})

void t.test(
  'going live is refused with what is missing and what to do, and then it is done',
  async (t) => {
    const clock = movableClock()
    const console = await startConsole(t, { clock })
    const { services, person } = console
    const ada = await person('acme')
    const live = `${PAGE}/go-live`
    const refused = async (wish: RegExp) => {
      for (const answer of [await ada.get(live), await ada.post(live)])
        t.match(answer.text, wish, String(wish))
      t.equal((await ada.post(live)).status, 409)
      t.match((await ada.get(PAGE)).text, wish)
      t.equal((await services.tenants.get('acme')).protection, 'pass-through')
    }
    await refused(/Not published yet.*Publish it under Start/s)
    await services.tenants.publish('acme', ACTOR)
    await found(console, 'middleware_mounted', 'pass', { source: 'self_report' })
    await refused(/Middleware is mounted: not checked yet.*Run the checks/s)
    await found(console, 'middleware_mounted')
    await found(console, 'key_installed', 'fail')
    await refused(
      /Application has the public key: found out about key_installed.*mend key_installed/s,
    )
    await found(console, 'key_installed')
    await found(console, 'key_installed', 'fail', { source: 'self_report' })

    const asked = await ada.get(live)
    t.match(asked.text, /no users yet, so no one could sign in/)
    t.match(asked.text, /Anyone who opens <b>acme\.localhost<\/b>/)
    const account = { username: 'bob', email: 'bob@acme.test', name: 'Bob', password: '' }
    await services.users.create('acme', account, ACTOR)
    t.notMatch((await ada.get(live)).text, /no users yet/)
    const done = await ada.post(live)
    t.match(done, {
      status: 303,
      location: /^\/console\/tenants\/acme\/integration\?done=.*#live$/,
    })
    t.match((await ada.get(done.location)).text, /acme is live\..*Live since/s)
    t.equal((await services.tenants.get('acme')).protection, 'on')
  },
)

void t.test('what the tool found open is said, and a person may go live anyway', async (t) => {
  const clock = movableClock()
  const console = await startConsole(t, { clock })
  const { services, person } = console
  await services.tenants.publish('acme', ACTOR)
  await found(console, 'middleware_mounted')
  await found(console, 'key_installed')
  const open = { source: 'self_report' }
  await found(console, 'listeners_guarded', 'fail', open)
  const ada = await person('acme')
  const start = '/console/tenants/acme'
  const told =
    /No other listener is open.*found out about listeners_guarded.*mend listeners_guarded/s
  t.match((await ada.get(start)).text, told, 'in the setup checklist')
  t.match((await ada.get(PAGE)).text, told)
  t.match((await ada.get(PAGE)).text, /go-live">Go live anyway …/)

  const live = `${PAGE}/go-live`
  t.match(await ada.post(live), { status: 409, text: told }, 'not without saying so')
  const asked = await ada.get(live)
  t.match(asked.text, /Take acme live anyway\?.*needs no sign-in.*Go live anyway/s)
  const [, ignored = ''] = /name="ignored" value="([^"]+)"/.exec(asked.text) ?? []
  clock.advance(1)
  await found(console, 'websockets_guarded', 'fail', open)
  t.match(await ada.post(live, { ignored }), { status: 409 }, 'a newer report asks again')
  const [, anew = ''] = /name="ignored" value="([^"]+)"/.exec((await ada.get(live)).text) ?? []
  t.match(await ada.post(live, { ignored: anew }), { status: 303 })
  t.equal((await services.tenants.get('acme')).protection, 'on')
  const { items } = await services.auditTrail.list({ limit: 1 }, { tenantId: 'acme' })
  t.match(items[0], { action: 'protection.on', content: { ignored: ['websockets_guarded'] } })
})

void t.test('going back says what happens to whom, and takes a fresh sign-in', async (t) => {
  const clock = movableClock()
  const { services, person } = await startConsole(t, { clock })
  const { tenants } = services
  await tenants.publish('acme', ACTOR)
  await tenants.goLive('acme', { force: true }, ACTOR)
  await tenants.patch('acme', { sealed: ['/internal', '/admin'] }, ACTOR)
  const ada = await person('acme')
  const back = `${PAGE}/go-back`
  t.match((await ada.get(back)).text, /acme\.localhost.*without\s+signing in.*\/internal, \/admin/s)
  clock.advance(LIMITS.consoleFreshMs + 1)
  t.match(await ada.get(back), { status: 302, location: /fresh=yes/ })
  t.equal((await ada.post(back)).status, 403)
  t.equal((await tenants.get('acme')).protection, 'on', 'not by who signed in long ago')
  const fresh = await person('acme')
  t.match(await fresh.post(back), { status: 303, location: /#live$/ })
  t.equal((await tenants.get('acme')).protection, 'pass-through')
})

void t.test(
  'probes and trials are as rare as those of the API, and drafts say what comes first',
  async (t) => {
    const clock = movableClock()
    const { services, person } = await startConsole(t, { clock })
    const ada = await person('acme')
    for (const name of ['probe', 'complete'] as const)
      t.match(await ada.post(`${PAGE}/${name}`), { status: 409, text: /not published yet/ })
    t.match((await ada.get(PAGE)).text, /Go to Start to publish/)
    await services.tenants.publish('acme', ACTOR)
    const probed = await ada.post(`${PAGE}/probe`)
    t.match(probed, { status: 303, location: /#checks$/ })
    t.match((await ada.get(probed.location)).text, /checks failed\. See the next step for each/)
    const answers = []
    for (let count = 0; count < LIMITS.rateProbe.burst; count++)
      answers.push((await ada.post(`${PAGE}/probe`)).status)
    t.ok(answers.includes(429), 'no more than the API lets through')
    t.match(
      await ada.post('/console/tenants/acme/probe'),
      { status: 429 },
      'and Start counts as well',
    )
  },
)

void t.test('a trial that fails shows each step, and what else is missing', async (t) => {
  const { services, person } = await startConsole(t, {
    edgeUrlFor: () => 'http://127.0.0.1:1', // nobody is there
  })
  await services.tenants.publish('acme', ACTOR)
  const ada = await person('acme')
  const tried = await ada.post(`${PAGE}/complete`)
  t.equal(tried.status, 409)
  t.match(tried.text, /Test sign-in, step by step.*Visitors are sent to sign in.*Failed/s)
  t.equal((await services.tenants.get('acme')).integrationCompletedAt, null)
})
