/** Branding in the console: typed, uploaded, looked at in frames, and saved by its administrators. */
import t from 'tap'
import { CSRF_FIELD, FORM_ID_FIELD } from '../../../control-plane/console/form-values.ts'
import { LOGO_PIXELS_MAX } from '../../../control-plane/tenants/logo.ts'
import { startConsole } from '../../support/console.ts'

const PAGE = '/console/tenants/acme/branding'
/** The smallest picture there is. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const FIELDS = { name: 'Acme & Sons', brand_colour: '#FFD500' }

async function startBranding(t: Parameters<typeof startConsole>[0]) {
  const world = await startConsole(t)
  const { services, app, person } = world
  const ada = await person('acme')
  /** As browsers send a form with a file. */
  const upload = async (fields: Record<string, string | Blob>, to = `${PAGE}/preview`) => {
    const { proofs } = services.consoleAccess
    const body = new FormData()
    body.set(CSRF_FIELD, proofs.csrf(ada.userId))
    body.set(FORM_ID_FIELD, proofs.newFormId(ada.userId))
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    const headers = { cookie: ada.cookie, accept: 'text/html' }
    const answer = await app.request(
      services.baseUrl + to,
      { method: 'POST', headers, body },
      { address: '127.0.0.1' },
    )
    return { status: answer.status, text: await answer.text() }
  }
  const acme = () => services.tenants.get('acme')
  return { ...world, ada, upload, acme }
}

const file = (base64: string) => new Blob([Buffer.from(base64, 'base64')], { type: 'image/png' })

/** What the button that saves would send. */
const hidden = (text: string) => {
  const form = new RegExp(`<form method="post" action="${PAGE}"[^]*?</form>`).exec(text)?.[0] ?? ''
  const inputs = form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries(
    [...inputs].map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]),
  )
}

t.test('what was typed is looked at first, then saved, then taken back', async (t) => {
  const { ada, upload, acme, services } = await startBranding(t)
  t.match((await ada.get(PAGE)).text, /enctype="multipart\/form-data"[^]*name="brand_logo"/)
  const shown = await upload({ ...FIELDS, brand_logo: file(PNG) })
  t.match(shown, { status: 200, text: /Nothing is saved yet/ })
  t.equal(shown.text.match(/<iframe/g)?.length, 4, 'a phone and a desk, light and dark')
  t.match(await acme(), { brandColour: null, brandLogoTag: null, name: 'acme' })

  const draft = await ada.get(`${PAGE}/frame?scheme=dark&of=draft`)
  t.match(draft.text, /<h1>Acme &amp; Sons<\/h1>/)
  t.match(draft.text, `src="data:image/png;base64,${PNG}"`)
  t.match(draft.text, '--accent:#ffd500')
  t.match(draft.text, '@media all')
  t.notMatch(draft.text, 'prefers-color-scheme')
  t.match(draft.headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors http/)
  t.match(draft.headers.get('content-security-policy'), /; sandbox$/)
  t.equal(draft.headers.get('x-frame-options'), 'SAMEORIGIN')
  t.notMatch((await ada.get(`${PAGE}/frame`)).text, 'Sons', 'what is saved, where none is named')

  const saved = await ada.post(PAGE, hidden(shown.text))
  t.match((await ada.get(saved.location)).text, 'Branding saved.')
  t.match(await acme(), { brandColour: '#ffd500', name: 'Acme & Sons' })
  const logo = await services.tenants.logo(await acme())
  t.equal(logo?.bytes.toString('base64'), PNG)

  const { text: audit } = await ada.get('/console/tenants/acme/audit')
  const changed = /<dt>Logo<\/dt>[^]*?<ins>(?:<span[^]*?<\/span>)?\s*([^<]+)<\/ins>/.exec(
    audit,
  )?.[1]
  const tag = (await acme()).brandLogoTag ?? ''
  t.equal(changed?.trim(), `image ${tag.slice(0, 6)}`, 'which of two pictures, and no more')
  t.notMatch(audit, tag)

  await ada.post(PAGE, { ...FIELDS, brand_colour: '' })
  t.match(await acme(), { brandColour: null, brandLogoTag: /./ }, 'without a file the logo stays')
  await ada.post(PAGE, { ...FIELDS, remove_logo: 'on' })
  t.equal((await acme()).brandLogoTag, null)
})

t.test('what is no picture, or too many pixels, is refused beside its field', async (t) => {
  const { upload, acme, ada } = await startBranding(t)
  const large = Buffer.from(PNG, 'base64')
  large.writeUInt32BE(LOGO_PIXELS_MAX + 1, 16)
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')
  for (const bytes of [large, svg, Buffer.from('GIF89a')]) {
    const answer = await upload({ ...FIELDS, brand_logo: file(bytes.toString('base64')) })
    t.match(answer, { status: 422, text: /id="brand_logo-error">Must be a PNG, JPEG or WebP/ })
    t.match(answer.text, 'value="Acme &amp; Sons"', 'what was typed stays')
  }
  const red = await upload({ ...FIELDS, brand_colour: 'red' })
  t.match(red, { status: 422, text: /id="brand_colour-error">Must be a color like #1f45ae\./ })
  t.equal((await upload({ ...FIELDS, name: file(PNG) })).status, 400, 'a file where text belongs')
  const twice = await upload({ ...FIELDS, brand_logo: file(PNG) }, '/console/tenants/acme/policies')
  t.equal(twice.status, 404)
  const elsewhere = await upload(FIELDS, '/console/tenants/acme/policies/device')
  t.equal(elsewhere.status, 400, 'no file is due there')
  t.match(await acme(), { brandColour: null, brandLogoTag: null })
  t.equal((await ada.get('/console/tenants/other/branding/frame')).status, 404)
})
