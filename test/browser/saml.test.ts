/** A provider's page posts its response from another site: what a real browser sends along, and takes. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { identitiesOf } from '../control-plane/realm/connections/connected.ts'
import {
  answerTo,
  GRACE,
  startSaml,
} from '../control-plane/realm/connections/saml/connected-by-saml.ts'
import { posted, requestIn, SSO_URL } from '../control-plane/realm/connections/saml/saml-peer.ts'
import { relyingParty } from '../control-plane/realm/realm-world.ts'
import { DESK, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'

async function listen(t: Test, answer: RequestListener): Promise<number> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return (server.address() as AddressInfo).port
}

const BARE = { viewport: DESK, javaScriptEnabled: false }
const name = 'a response that another site posts leads the browser that asked in, and no other'

t.test(name, { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { world, tenant, key } = await startSaml(t)
  let form = ''
  const heads: (string | undefined)[][] = []
  // the provider's page at another site: a form that its person sends, without a script
  const port = await listen(t, (_request, response) => {
    response.setHeader('content-type', 'text/html').end(form)
  })
  const provider = `http://localhost:${port}/`
  const chromium = await startChromium(t)

  async function atProvider(page: Page) {
    // its address has to be https, so the redirect there is read here and leads to the form instead
    await page.route(`${world.baseUrl}/**/connection/*`, async (route) => {
      const answer = await route.fetch({ maxRedirects: 0 })
      const { location = '', 'content-length': _, ...headers } = answer.headers()
      if (!location.startsWith(SSO_URL)) return route.fulfill({ response: answer })
      const sent = requestIn(location)
      form = `<form method="post" action="${sent.acsUrl}"><input type="hidden" name="SAMLResponse"
        value="${posted(answerTo(sent, key, GRACE))}"><button>Go on</button></form>`
      const body = `<meta http-equiv="refresh" content="0;url=${provider}">`
      const shown = { ...headers, 'content-type': 'text/html' }
      await route.fulfill({ status: 200, headers: shown, body })
    })
    page.on('request', (request) => {
      if (request.method() !== 'POST') return
      void request.allHeaders().then((all) => heads.push([all['origin'], all['cookie']]))
    })
    const flow = await (await relyingParty(tenant)).begin()
    await page.goto(flow.url)
    await page.getByText('Continue with Company').click()
    await page.getByText('Go on').waitFor()
    return flow
  }

  const { page, context } = await chromium.page(BARE)
  const flow = await atProvider(page)
  const waiting = (await context.cookies()).filter(({ domain }) => domain === '127.0.0.1')
  t.ok(waiting.length > 0, 'what the browser was given for its way back')
  t.ok(waiting.every(({ sameSite, httpOnly }) => sameSite === 'Lax' && httpOnly))
  // the application itself is nowhere
  const sentOn = page.waitForRequest((request) => request.url().startsWith(tenant.redirectUri))
  await page.getByText('Go on').click()
  const callback = (await sentOn).url()
  t.match((await flow.finish(callback)).claims(), { email: 'grace@company.example' })
  t.equal((await identitiesOf(world)).length, 1)
  t.same(heads, [[new URL(provider).origin, undefined]], 'and none of it came with the post')

  const stranger = await chromium.page(BARE)
  await atProvider(stranger.page)
  const victim = await chromium.page(BARE)
  await victim.page.goto(provider)
  await victim.page.getByText('Go on').click()
  await victim.page.waitForURL(`${world.baseUrl}/**`)
  await victim.page.locator('h1').waitFor()
  t.notOk(victim.page.url().startsWith(tenant.redirectUri), 'nobody is signed in as another')
  const left = await victim.context.cookies()
  t.notOk(left.some((cookie) => cookie.name.includes('session')))
})
