/** A tenant's looks by the operator API: what is taken, what is not, and how that is said. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'

const picture = (head: string, bytes = 100) =>
  Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(bytes)])
    .subarray(0, bytes)
    .toString('base64')
/** Up to where they say how many pixels they have: one. */
const PNG_HEAD = `89504e470d0a1a0a${'0000000d49484452'}${'00000001'.repeat(2)}`
const WEBP = `52494646${'00000000'}57454250`
const WEBP_HEAD = `${WEBP}${'5650385800000000'}` // VP8X: one less than there are
const JPEG_HEAD = `ffd8${'ffe00004beef'}${'ffc0001108'}${'00010001'}`

t.test('a colour and a logo are set, shown and taken back', async (t) => {
  const { operator, tenant } = await startApi(t)
  t.match(await tenant('acme'), { brand_colour: null, brand_logo_url: null })
  const set = (fields: object) => operator('PATCH', '/tenants/acme', fields)
  t.match(await set({ brand_colour: '#FFD500' }), {
    status: 200,
    body: { brand_colour: '#ffd500' },
  })
  const urls = new Set<unknown>()
  for (const head of [PNG_HEAD, JPEG_HEAD, WEBP_HEAD]) {
    const { status, body } = await set({ brand_logo: picture(head) })
    t.equal(status, 200, head)
    t.match(body.brand_logo_url, /^http:\/\/localhost:8080\/auth\/realms\/acme\/logo\?v=[\w-]{16}$/)
    t.notOk('brand_logo' in body, 'the picture itself is not in every answer')
    urls.add(body.brand_logo_url)
  }
  t.equal(urls.size, 3)
  const before = (await operator('GET', '/tenants/acme')).body.revision
  t.equal((await set({ brand_logo: picture(WEBP_HEAD) })).body.revision, before, 'the same again')
  const audit = JSON.stringify((await operator('GET', '/audit')).body)
  t.notOk(audit.includes(picture(PNG_HEAD)), 'nor in the audit trail')
  t.match(await set({ brand_colour: null, brand_logo: null }), {
    status: 200,
    body: { brand_colour: null, brand_logo_url: null },
  })
})

t.test('whatever else is refused with what is wanted, and changes nothing', async (t) => {
  const { operator, tenant } = await startApi(t)
  await tenant('acme')
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')
  for (const [field, value] of [
    ['brand_colour', 'red'],
    ['brand_colour', '#fff'],
    ['brand_colour', '#12345g'],
    ['brand_colour', '#ffffff}'],
    ['brand_colour', 0xffffff],
    ['brand_logo', ''],
    ['brand_logo', 'no base64!'],
    ['brand_logo', svg.toString('base64')],
    ['brand_logo', picture('474946383961')], // GIF
    ['brand_logo', picture('ffd8ffe0')], // says nowhere how large it is
    ['brand_logo', picture(`${WEBP}${'0'.repeat(16)}`)],
    ['brand_logo', picture(PNG_HEAD.replace(/00000001$/, '00000801'))], // one pixel too many
    ['brand_logo', picture(PNG_HEAD.replace(/00000001$/, '00000000'))],
    ['brand_logo', picture('52494646').replace(/A+/, 'AAAA')], // RIFF, and not WEBP
    ['brand_logo', `data:image/png;base64,${picture(PNG_HEAD)}`],
    ['brand_logo', picture(PNG_HEAD, LIMITS.brandLogoBytesMax + 1)],
    ['brand_logo', { png: picture(PNG_HEAD) }],
  ] as const) {
    const { status, body } = await operator('PATCH', '/tenants/acme', { [field]: value })
    t.match({ status, body }, { status: 400, body: { error: 'field_invalid', field } })
    const wish = field === 'brand_colour' ? /a color like #1f45ae/ : /PNG, JPEG or WebP.*65536/
    t.match(body.detail, wish, JSON.stringify(value).slice(0, 40))
  }
  const largest = { brand_logo: picture(PNG_HEAD, LIMITS.brandLogoBytesMax) }
  t.equal((await operator('PATCH', '/tenants/acme', largest)).status, 200)
})
