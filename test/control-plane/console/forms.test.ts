/** Forms: read into what the API takes, kept when something is wrong, carried out once. */
import t from 'tap'
import { createAssets } from '../../../control-plane/console/assets.ts'
import { bodyOf, readSentForm } from '../../../control-plane/console/form-values.ts'
import { safeReturnAddress } from '../../../control-plane/console/access/return-address.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR } from '../../support/control-plane.ts'

const NEW = '/console/tenants/new'
const TENANT = {
  tenant_id: 'globex',
  name: 'Globex',
  mode: 'gateway',
  plan: 'standard',
  hostnames: 'app.globex.localhost\r\nwww.globex.localhost\r\n',
  origin: 'http://127.0.0.1:9000',
  sealed: '/internal',
  excluded: '',
  health: '/health',
}

const proofIn = (text: string, name: string) =>
  new RegExp(`action="${NEW}"[^]*?name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? ''

void t.test(
  'a form that is sent twice is carried out once, and ends at the same place',
  async (t) => {
    const { services, person } = await startConsole(t)
    const grace = await person('operator')
    const { text } = await grace.get(NEW)
    const form = { ...TENANT, csrf: proofIn(text, 'csrf'), form_id: proofIn(text, 'form_id') }
    const first = await grace.post(NEW, form)
    t.match(first, { status: 303, location: /^\/console\/tenants\/globex\?done=/ })
    const again = await grace.post(NEW, form)
    t.match(again, { status: 303, location: first.location }, 'the same answer')
    const audit = await services.auditTrail.list({ limit: 50 }, { tenantId: 'globex' })
    t.equal(audit.items.length, 1, 'and nothing was done twice')
    t.match((await services.tenants.get('globex')).hostnames, [
      'app.globex.localhost',
      'www.globex.localhost',
    ])
    const page = await grace.get(first.location)
    t.match(page.text, /Globex created as a draft\..*once it is published/s)
    t.match(audit.items[0]?.actor, /^console:/, 'by whom is written down')
  },
)

void t.test('a form that was refused may come again, and keeps what was typed', async (t) => {
  const { person } = await startConsole(t)
  const grace = await person('operator')
  const { text } = await grace.get(NEW)
  const proofs = { csrf: proofIn(text, 'csrf'), form_id: proofIn(text, 'form_id') }
  const taken = await grace.post(NEW, { ...TENANT, ...proofs, tenant_id: 'acme' })
  t.equal(taken.status, 409)
  t.match(taken.text, /id="tenant_id-error">Another tenant already has this id/)
  t.match(taken.text, 'value="http://127.0.0.1:9000"')
  t.equal((await grace.post(NEW, { ...TENANT, ...proofs })).status, 303)
})

void t.test(
  'a form that was changed in between is not answered as the first one was',
  async (t) => {
    const { services, person } = await startConsole(t)
    const grace = await person('operator')
    const { text } = await grace.get(NEW)
    const form = { ...TENANT, csrf: proofIn(text, 'csrf'), form_id: proofIn(text, 'form_id') }
    t.equal((await grace.post(NEW, form)).status, 303)
    const other = { ...form, tenant_id: 'initech', hostnames: 'app.initech.localhost' }
    const changed = await grace.post(NEW, other)
    t.equal(changed.status, 409)
    t.match(changed.text, /role="alert"[^]*already submitted with other values/)
    t.match(changed.text, 'value="initech"', 'what was typed is kept')
    t.equal(await services.tenants.find('initech'), undefined)
    t.match(await grace.post(NEW, form), { status: 303, location: /globex/ }, 'the first still is')
    const again = { ...other, csrf: proofIn(changed.text, 'csrf') }
    const sent = await grace.post(NEW, { ...again, form_id: proofIn(changed.text, 'form_id') })
    t.match(sent, { status: 303, location: /initech/ }, 'and it may be sent knowingly')
  },
)

void t.test('a form is one form at one address', async (t) => {
  const { services, person } = await startConsole(t)
  const ada = await person('acme')
  const form = { form_id: services.consoleAccess.proofs.newFormId(ada.userId) }
  const users = []
  for (const username of ['bob', 'eve']) {
    const email = `${username}@acme.test`
    users.push(
      await services.users.create('acme', { username, email, name: username, password: '' }, ACTOR),
    )
  }
  const [bob, eve] = users.map(({ userId }) => `/console/tenants/acme/users/${userId}/invite`)
  t.match(await ada.post(bob!, form), { status: 303 })
  t.match(await ada.post(eve!, form), { status: 409, text: /form_changed/ })
})

void t.test('what was being done when the control plane went away is not done again', async (t) => {
  const { services, person } = await startConsole(t)
  const grace = await person('operator')
  const { proofs } = services.consoleAccess
  const formId = proofs.newFormId(grace.userId)
  await services.store.change(({ queries, nowMs }) =>
    queries
      .insert(schema.consoleForms)
      .values({ formHash: services.vault.hash(formId), createdAt: nowMs }),
  )
  const answer = await grace.post(NEW, { ...TENANT, form_id: formId })
  t.match(answer, { status: 409, text: /form_spent/ })
  t.match(answer.text, /Check whether the change was made/)
})

void t.test('hostile text comes back harmless', async (t) => {
  const { person } = await startConsole(t)
  const grace = await person('operator')
  for (const text of [
    '"><script>alert(1)</script>',
    "' onfocus=alert(1) autofocus='",
    '</textarea><img src=x onerror=alert(1)>',
    '{{constructor.constructor("alert(1)")()}}',
    'javascript:alert(1)',
    '\u202egnp.exe',
  ]) {
    const form = Object.fromEntries(Object.keys(TENANT).map((name) => [name, text]))
    const answer = await grace.post(NEW, form)
    t.equal(answer.status, 422, text)
    t.notMatch(answer.text, /<script>alert|<img src=x|\sonfocus=alert\(1\) autofocus='[^&]/, text)
    const found = await grace.get(`/console/tenants?q=${encodeURIComponent(text)}`)
    t.equal(found.status, 200, text)
    t.notMatch(found.text, /<script>alert|<img src=x/, text)
  }
})

void t.test('a note in an address is only believed if it is ours, and this person’s', async (t) => {
  const { services, person } = await startConsole(t)
  const [grace, eve] = [await person('operator'), await person('operator')]
  const { proofs } = services.consoleAccess
  const note = proofs.writeNote(eve.userId, { said: 'Call 0900 to unlock your account.' })
  for (const forged of [note, note.replace(/\..*/, '.AAAAAAAAAAAAAAAAAAAAAA'), 'x', ''])
    t.notMatch((await grace.get(`/console/tenants?done=${forged}`)).text, 'Call 0900')
  t.match((await eve.get(`/console/tenants?done=${note}`)).text, 'Call 0900')
})

void t.test('fields are read as the API takes them', async (t) => {
  const shape = {
    a: 'text',
    b: 'optional',
    c: 'nullable',
    d: 'lines',
    e: 'whole',
    f: 'flag',
    g: 'choices',
    h: 'whole',
  } as const
  const sent = readSentForm('a=x&b=&c=&d=one%0D%0A+two%2Cthree&e=12&f=on&g=1&g=2&h=1e3', shape)
  t.same(bodyOf(shape, sent), {
    a: 'x',
    c: null,
    d: ['one', 'two', 'three'],
    e: 12,
    f: true,
    g: ['1', '2'],
    h: '1e3',
  })
  t.throws(() => readSentForm('a=1&a=2', shape), { code: 'field_invalid' })
})

void t.test('nobody is sent anywhere but to a page of the console', async (t) => {
  for (const good of ['/console', '/console/tenants/acme?limit=5&cursor=WyJhIl0', '/console/audit'])
    t.equal(safeReturnAddress(good), good)
  for (const bad of [
    undefined,
    'https://evil.example',
    '//evil.example',
    '/console//evil.example',
    '/consoleevil',
    '/console/../api/v1',
    '/console/%2e%2E/api/v1',
    '/console\\evil',
    '/console/sign-in?return_to=/console',
    `/console/${'x'.repeat(2000)}`,
  ])
    t.equal(safeReturnAddress(bad), '/console', String(bad).slice(0, 40))
})

void t.test('what a page loads is small, and kept for good', async (t) => {
  const { services, app, ask, person } = await startConsole(t)
  const urls = await createAssets(services).urls()
  const sizeOf = async (path: string | undefined, encoding: string) => {
    const headers = { 'accept-encoding': encoding }
    const asset = await app.request(path ?? '', { headers }, { address: '127.0.0.1' })
    t.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    t.equal(asset.headers.get('content-encoding') ?? 'identity', encoding)
    return (await asset.arrayBuffer()).byteLength
  }
  const every = [urls.style, urls.script]
  const plotting = [...every, urls.charts?.script, urls.charts?.style]
  const sum = async (paths: readonly (string | undefined)[], encoding: string) =>
    (await Promise.all(paths.map((path) => sizeOf(path, encoding)))).reduce((a, b) => a + b)
  const plain = await sum(every, 'identity')
  t.ok(plain <= 30_000, `${plain} bytes on every page, unpacked`)
  const packed = await sum(plotting, 'gzip')
  t.ok(packed <= 60_000, `${packed} bytes where something is plotted, as they travel`)
  const { text } = await (await person('operator')).get('/console/tenants')
  t.match(text, urls.style)
  t.notMatch(text, urls.charts?.script ?? 'charts', 'only where something is plotted')
  t.equal((await ask('/console/assets/console-0000000000000000.js', '')).status, 404)
})

void t.test('an address with a slash at its end leads to the page', async (t) => {
  const { person, ask } = await startConsole(t)
  const grace = await person('operator')
  for (const [path, page] of [
    ['/console/', '/console'],
    ['/console/tenants/?q=a%2Fb', '/console/tenants?q=a%2Fb'],
    ['/console/tenants/acme//', '/console/tenants/acme'],
    ['/console//evil.example//', '/console//evil.example'],
  ] as const)
    for (const answer of [await grace.get(path), await ask(path, '')])
      t.match(answer, { status: 308, location: page }, path)
  t.equal((await grace.post('/console/tenants/new/', TENANT)).status, 404, 'a form is not led on')
})
