/** A name that is written from right to left turns nothing around it. */
import { html } from 'hono/html'
import t from 'tap'
import { isolateRightToLeft } from '../../shared/right-to-left.ts'
import { pageHtml } from '../../shared/sign-in/pages.ts'
import { startConsole } from '../support/console.ts'
import { ACTOR } from '../support/control-plane.ts'

const ARABIC = 'محمد علي'
const HEBREW = 'דנה'

const written = async (page: ReturnType<typeof html>) => String(await page)

t.test('each run is isolated by itself, wherever it stands in a text', async (t) => {
  const shown = async (text: string) => isolateRightToLeft(await written(html`<p>${text}</p>`))
  t.equal(await shown(`${ARABIC} (3).`), `<p><bdi>${ARABIC}</bdi> (3).</p>`)
  t.equal(await shown(`Remove ${HEBREW}?`), `<p>Remove <bdi>${HEBREW}</bdi>?</p>`)
  t.equal(await shown(`${ARABIC} 7 ${ARABIC}`), `<p><bdi>${ARABIC} 7 ${ARABIC}</bdi></p>`)
  t.equal(
    await shown(`${ARABIC} is told, and ${HEBREW}`),
    `<p><bdi>${ARABIC}</bdi> is told, and <bdi>${HEBREW}</bdi></p>`,
  )
  t.equal(
    await shown(`${HEBREW} & ${HEBREW}`),
    `<p><bdi>${HEBREW}</bdi> &amp; <bdi>${HEBREW}</bdi></p>`,
  )
})

t.test('nothing else is touched: attributes, and elements that take no other', async (t) => {
  for (const page of [
    `<title>${ARABIC} · Console</title>`,
    `<input value="${ARABIC}" />`,
    `<textarea rows="3">${ARABIC}\n1</textarea>`,
    `<option value="${ARABIC}">${ARABIC}</option>`,
    `<script>const a = '${ARABIC}'</script>`,
    '<p>Søren Ö. Kierkegård, 田中 太郎, Дарья</p>',
  ])
    t.equal(isolateRightToLeft(page), page)
})

t.test('hostile text stays text', async (t) => {
  const text = `<b>${ARABIC}</b><script>${HEBREW}`
  const page = isolateRightToLeft(await written(html`<p title="${text}">${text}</p>`))
  t.notMatch(page, /<b>|<script>/)
  t.equal(page.match(/<bdi>/g)?.length, 2)
})

t.test('pages on a tenant’s own hostname show such names so', async (t) => {
  const page = {
    language: 'en',
    title: 'Signed out',
    text: `Your session of ${HEBREW} (3) has ended.`,
    code: 'x',
  } as const
  t.match(pageHtml(page), `Your session of <bdi>${HEBREW}</bdi> (3) has ended.`)
})

t.test('pages of the console show such names so', async (t) => {
  const { services, person } = await startConsole(t)
  const grace = await person('acme')
  const account = { username: 'm', email: 'm@acme.test', name: ARABIC, password: '' }
  const { userId } = await services.users.create('acme', account, ACTOR)
  const { text } = await grace.get(`/console/tenants/acme/users/${userId}/remove`)
  t.match(text, new RegExp(`Delete <bdi>${ARABIC}</bdi>\\?`))
  t.match(text, new RegExp(`<title>[^<]*${ARABIC}`))
})
