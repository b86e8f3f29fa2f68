/** A client that is a script in a browser; its requests to the realm come from another origin. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import t from 'tap'
import { startChromium, WITHOUT_CHROMIUM } from '../../../support/chromium.ts'
import { PASSWORD } from '../realm-world.ts'
import { startClientWorld } from './application.ts'

const SCRIPT = createRequire(import.meta.url)
  .resolve('oidc-client-ts')
  .replace(/dist\/.*$/, 'dist/browser/oidc-client-ts.min.js')

t.test('oidc-client-ts signs in, in Chromium', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { tenant, base, serve } = await startClientWorld(t)
  const settings = JSON.stringify({
    authority: tenant.issuer,
    client_id: tenant.clientId,
    client_secret: tenant.clientSecret,
    redirect_uri: `${base}/service/callback`,
    scope: 'openid profile email',
    loadUserInfo: true,
  })
  await serve((request, response) => {
    const isScript = request.url === '/client.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(
      isScript
        ? readFileSync(SCRIPT)
        : `<!doctype html><p id="state">working</p><script src="/client.js"></script><script>
            const manager = new oidc.UserManager(${settings})
            const say = (text) => (document.getElementById('state').textContent = text)
            if (location.pathname === '/service/callback')
              manager.signinCallback().then((user) => say(JSON.stringify(user.profile)), (error) => say('failed: ' + error.message))
            else manager.signinRedirect().catch((error) => say('failed: ' + error.message))
          </script>`,
    )
  })
  const { page: newPage } = await startChromium(t)
  const { page } = await newPage()
  await page.goto(base)
  await page.fill('[name=username]', 'ada')
  await page.fill('[name=password]', PASSWORD)
  await page.click('button[type=submit]')
  await page.waitForURL(/\/service\/callback/)
  await page.waitForSelector('#state:not(:has-text("working"))')
  const said = (await page.textContent('#state')) ?? ''
  t.match(JSON.parse(said.startsWith('{') ? said : JSON.stringify({ said })), {
    sub: tenant.ada.userId,
    email: 'ada@example.test',
    preferred_username: 'ada',
  })
})

t.test('a script of another site may not read what the realm answers', async (t) => {
  const { tenant, base } = await startClientWorld(t)
  const allowed = async (origin: string) => {
    const credentials = Buffer.from(`${tenant.clientId}:${tenant.clientSecret}`).toString('base64')
    const headers = { origin, authorization: `Basic ${credentials}` }
    const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'a' })
    const answer = await fetch(`${tenant.issuer}/token`, { method: 'POST', headers, body })
    return answer.headers.get('access-control-allow-origin')
  }
  t.equal(await allowed('https://evil.example'), null)
  t.equal(await allowed('null'), null)
  t.equal(await allowed(base.replace('http:', 'https:')), null)
  t.equal(await allowed(base), base)
})
