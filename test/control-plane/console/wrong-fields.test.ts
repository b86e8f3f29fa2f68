/** What the server finds wrong is found by people: named at the top, and the first field has the focus. */
import t from 'tap'
import { startConsole } from '../../support/console.ts'
import { ACTOR } from '../../support/control-plane.ts'

const NEW = '/console/tenants/new'
const TENANT = { tenant_id: 'globex', name: 'Globex', mode: 'gateway', plan: 'standard' }
const FORM = { ...TENANT, hostnames: 'globex.localhost', origin: 'http://127.0.0.1:9', sealed: '' }

const focused = (text: string) =>
  [...text.matchAll(/<(?:input|select|textarea|div)[^>]*\sautofocus[^>]*>/g)].map(([tag]) => tag)

t.test('each wrong field is a link at the top, and the first one has the focus', async (t) => {
  const { person } = await startConsole(t)
  const grace = await person('operator')
  const form = { ...FORM, excluded: '', health: 'health', hostnames: 'not a host', origin: 'x' }
  const { status, text } = await grace.post(NEW, form)
  t.equal(status, 422)
  t.match(text, /<title>Error: New tenant.*<h1>New tenant<\/h1>/s)
  const summary = /role="alert"[^]*?<\/ul>/.exec(text)?.[0] ?? ''
  t.match(summary, /Fix 3 fields/)
  const links = [...summary.matchAll(/<a href="#(\w+)">([^<]+)<\/a>/g)]
  t.same(
    links.map(([, id, label]) => [id, label]),
    [
      ['hostnames', 'Hostnames'],
      ['origin', 'Origin'],
      ['health', 'Health path'],
    ],
    'in the order of the form, by their labels',
  )
  const [first = '', ...others] = focused(text)
  t.match(first, /id="hostnames"/)
  t.match(first, /aria-invalid="true"\s+aria-describedby="hostnames-hint hostnames-error"/)
  t.same(others, [])
})

t.test('of several to tick the first has it, and what belongs to no field itself', async (t) => {
  const { person, services } = await startConsole(t)
  await services.tenants.setPlan('acme', 'premium', ACTOR)
  const ada = await person('acme')
  const webhooks = '/console/tenants/acme/webhooks/new'
  const wrong = await ada.post(webhooks, { url: 'https://a.example/hooks', description: '' })
  t.match(wrong.text, /<a href="#events">[^<]+<\/a>: Select at least one event\./)
  t.match(wrong.text, /<fieldset class="field" id="events"/)
  t.match(focused(wrong.text), { length: 1, 0: /id="events-0"/ })
})
