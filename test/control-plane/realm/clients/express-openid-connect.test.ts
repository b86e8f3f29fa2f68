import express from 'express'
import { auth } from 'express-openid-connect'
import t from 'tap'
import { userinfoStatus } from '../realm-world.ts'
import { signInAt, startClientWorld } from './application.ts'

t.test('express-openid-connect signs in, knows who it is, and signs out everywhere', async (t) => {
  const { world, tenant, base, serve } = await startClientWorld(t)
  const app = express()
  app.use(
    auth({
      issuerBaseURL: tenant.issuer,
      baseURL: base,
      clientID: tenant.clientId,
      clientSecret: tenant.clientSecret,
      secret: 'a secret of the application, long enough',
      authRequired: true,
      idpLogout: true,
      authorizationParams: { response_type: 'code', scope: 'openid profile email' },
      routes: { callback: '/service/callback', logout: '/sign-out', postLogoutRedirect: '/' },
    }),
  )
  app.get('/token', (request, response) => {
    response.json({ token: request.oidc.accessToken?.access_token })
  })
  app.get('/{*path}', (request, response) => response.json(request.oidc.user))
  await serve(app)

  const { browser, page, inside } = await signInAt(`${base}/where/I/was`)
  t.ok(page.url.startsWith(`${tenant.issuer}/sign-in/`))
  t.equal(inside.url, `${base}/where/I/was`)
  const user = JSON.parse(inside.html) as Record<string, unknown>
  t.match(user, {
    sub: tenant.ada.userId,
    name: 'Ada Lovelace',
    email: 'ada@example.test',
    acr: 'aal1',
    amr: ['pwd'],
  })
  const { token } = JSON.parse((await browser.visit(`${base}/token`)).html) as { token: string }
  t.equal(await userinfoStatus(tenant, token), 200)

  const out = await browser.visit(`${base}/sign-out`)
  t.ok(out.url.startsWith(`${tenant.issuer}/sign-in/`), 'at home, and asked to sign in again')
  t.match(await world.sessions.find('acme', String(user.sid)), { endReason: 'signed_out' })
  t.equal(await userinfoStatus(tenant, token), 401)
})
