/** A tenant's colour and logo on its pages: whatever is chosen, text stays readable and nothing runs. */
import { createHash } from 'node:crypto'
import t from 'tap'
import { request } from 'undici'
import {
  accentsOf,
  contrast,
  EDGE_CONTRAST_MIN,
  GROUNDS,
  TEXT_CONTRAST_MIN,
} from '../../../control-plane/pages/accents.ts'
import { ACTOR, Browser, requestWith, startWorld } from './realm-world.ts'

/** The smallest picture there is. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

const hex = (channel: number) => channel.toString(16).padStart(2, '0')

t.test('the contrast is the one of WCAG', async (t) => {
  t.equal(contrast('#000000', '#ffffff'), 21)
  t.equal(contrast('#ffffff', '#ffffff'), 1)
  t.match(contrast('#777777', '#ffffff').toFixed(2), '4.48')
  t.equal(contrast('#123456', '#fedcba'), contrast('#fedcba', '#123456'))
})

t.test('no colour makes a text or an edge unreadable, in light or in dark', async (t) => {
  const steps = [0, 17, 51, 85, 102, 119, 128, 136, 153, 187, 204, 238, 255]
  const colours = steps.flatMap((r) =>
    steps.flatMap((g) => steps.map((b) => `#${hex(r)}${hex(g)}${hex(b)}`)),
  )
  const failures: string[] = []
  for (const colour of colours)
    for (const scheme of ['light', 'dark'] as const) {
      const { card, ground } = GROUNDS[scheme]
      const accents = accentsOf(colour, scheme)
      const { accent, onAccent, accentStrong, accentEdge, link, tint, onTint } = accents
      const pairs = { 'on accent': [onAccent, accent], 'under a pointer': [onAccent, accentStrong] }
      const texts = { ...pairs, link: [link, card], below: [link, ground], mark: [onTint, tint] }
      for (const [what, [one = '', other = '']] of Object.entries(texts))
        if (contrast(one, other) < TEXT_CONTRAST_MIN) failures.push(`${colour} ${scheme} ${what}`)
      if (contrast(accentEdge, card) < EDGE_CONTRAST_MIN) failures.push(`${colour} ${scheme} edge`)
      if (accent !== colour) failures.push(`${colour} is not the colour of the button`)
    }
  t.equal(colours.length, 2197)
  t.same(failures, [])
})

t.test('pages have the colour, by a style sheet that is allowed by its hash alone', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const plain = await browser.visit(await requestWith(acme, {}))
  t.equal(stylesOf(plain.html).length, 1)
  t.notMatch(plain.response.headers.get('content-security-policy'), /img-src/)

  await world.tenants.patch('acme', { brandColour: '#ffd500', brandLogo: PNG }, ACTOR)
  const suspended = await world.tenant('closed')
  await world.tenants.patch('closed', { brandColour: '#ffd500', brandLogo: PNG }, ACTOR)
  await world.tenants.suspend('closed', ACTOR)
  for (const url of [
    await requestWith(acme, {}),
    `${acme.issuer}/logout`,
    `${suspended.issuer}/authorize`,
  ]) {
    const { html, response } = await browser.visit(url)
    const policy = response.headers.get('content-security-policy') ?? ''
    const [shared = '', own = ''] = stylesOf(html)
    t.match(own, '--accent:#ffd500')
    for (const style of [shared, own]) t.match(policy, hashOf(style), url)
    const others = policy.replace(`; script-src ${acme.issuer}/passkey.js;`, ';')
    t.notMatch(others, /unsafe|script-src|data:|\*/)
    const [, logo = ''] = /<img class="logo" src="([^"]+)"/.exec(html) ?? []
    t.match(policy, `img-src ${logo.split('?')[0]};`)
    t.equal((await browser.once(logo)).status, 200, logo)
  }
})

t.test('a colour that was not checked makes no style sheet', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const evil = '#fff}</style><script>alert(1)</script>'
  await world.tenants.patch('acme', { brandColour: evil }, ACTOR)
  const { html } = await new Browser(world.baseUrl).visit(await requestWith(acme, {}))
  t.equal(stylesOf(html).length, 1)
  t.notMatch(html, /<script(?! src="[^"<>]*\/passkey\.js" defer><\/script>)/)
})

t.test('the logo is a picture and nothing else, kept until there is another', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  t.equal((await browser.once(`${acme.issuer}/logo`)).status, 404)
  await world.tenants.patch('acme', { brandLogo: PNG }, ACTOR)
  const { html } = await browser.visit(await requestWith(acme, {}))
  const [, url = ''] = /<img class="logo" src="([^"]+)" alt="([^"]+)"/.exec(html) ?? []

  const answer = await browser.once(url)
  t.same(Buffer.from(await answer.arrayBuffer()), Buffer.from(PNG, 'base64'))
  t.equal(answer.headers.get('content-type'), 'image/png')
  t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  t.match(answer.headers.get('content-security-policy'), /default-src 'none'; sandbox/)
  t.match(answer.headers.get('cache-control'), /immutable/)
  t.notOk(answer.headers.get('set-cookie'))
  const etag = answer.headers.get('etag') ?? ''
  const asked = async () => {
    const { statusCode, body } = await request(url, { headers: { 'if-none-match': etag } })
    return { statusCode, bytes: (await body.arrayBuffer()).byteLength }
  }
  t.same(await asked(), { statusCode: 304, bytes: 0 })
  t.equal((await browser.once(url, { method: 'HEAD' })).status, 200)
  const bare = await browser.once(`${acme.issuer}/logo`)
  t.equal(bare.headers.get('cache-control'), 'public, max-age=60', 'without the tag not for long')

  const other = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.from('x')]).toString('base64')
  await world.tenants.patch('acme', { brandLogo: other }, ACTOR)
  const next = await browser.visit(await requestWith(acme, {}))
  t.notOk(next.html.includes(url), 'another picture has another address')
  t.match(await asked(), { statusCode: 200 })
  await world.tenants.patch('acme', { brandLogo: null }, ACTOR)
  t.equal((await browser.once(url)).status, 404)
  t.notMatch((await browser.visit(await requestWith(acme, {}))).html, /<img/)
})

function stylesOf(html: string): string[] {
  return [...html.matchAll(/<style>([^<]*)<\/style>/g)].map(([, style = '']) => style)
}

function hashOf(style: string): string {
  return `'sha256-${createHash('sha256').update(style).digest('base64')}'`
}
