/** A provider that somebody else has written, bare: `oidc-provider`, over TLS, driven as a browser would. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'
import t, { type Test } from 'tap'
import { Agent, fetch } from 'undici'
import { until } from '../../../support/newcomer.ts'
import { createTestAuthority } from '../../../support/test-certificates.ts'
import { sidOf, startWorld } from '../realm-world.ts'
import { activeConnection, atProvider, identitiesOf } from './connected.ts'
import { CLIENT } from './provider-peer.ts'

const HOST = 'id.company.example'
const PERSON = { email: 'grace@company.example', email_verified: true, name: 'Grace Hopper' }

async function start(t: Test) {
  const authority = createTestAuthority(t)
  const leaf = authority.issue(HOST, [])
  const server = createServer({ key: leaf.private_key_pem, cert: leaf.certificate_pem })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `https://${HOST}:${(server.address() as AddressInfo).port}`
  const receivers = {
    allowPrivate: ['127.0.0.0/8'],
    egressProxy: null,
    resolve: async () => ['127.0.0.1'],
    ca: authority.caPem,
  }
  const world = await startWorld(t, { receivers })
  const tenant = await world.tenant('acme')
  const connection = await activeConnection(world, 'acme', { issuer }, { signsOut: true })
  const own = `${tenant.issuer}/connections/${connection.connectionId}`

  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret },
        redirect_uris: [`${own}/callback`],
        post_logout_redirect_uris: [`${own}/signed-out`],
        backchannel_logout_uri: `${own}/back-channel-logout`,
        backchannel_logout_session_required: true,
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
    cookies: { keys: ['a key of the provider'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    fetch(url, init) {
      const { dispatcher: _guarded, ...open } = init as RequestInit & { dispatcher?: unknown }
      return globalThis.fetch(url, open) // to loopback
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, ...PERSON }),
    }),
    async loadExistingGrant({ oidc }) {
      const { client, session } = oidc
      const grant = new provider.Grant({
        clientId: String(client?.clientId),
        accountId: String(session?.accountId),
      })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  })
  const callback = provider.callback()
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') === true)
      return void provider.interactionFinished(request, response, {
        login: { accountId: 'grace-7' },
      })
    return void callback(request, response)
  })
  const dispatcher = new Agent({
    connect: {
      ca: authority.caPem,
      lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    },
  })
  t.teardown(() => dispatcher.destroy())

  /** Cookies of the provider alone; it stops where the way leads back to us. */
  function browserThere() {
    const cookies = new Map<string, string>()
    return async function visit(url: string, form?: Record<string, string>): Promise<Visited> {
      const answer = await fetch(url, {
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
        redirect: 'manual',
        dispatcher,
      })
      for (const line of answer.headers.getSetCookie()) {
        const [name = '', ...rest] = line.split(';')[0]?.split('=') ?? []
        cookies.set(name, rest.join('='))
      }
      const location = answer.headers.get('location')
      if (location === null) return { url, html: await answer.text() }
      const next = new URL(location, url).href
      return next.startsWith(issuer) ? visit(next) : { url: next, html: '' }
    }
  }

  async function comes(there: ReturnType<typeof browserThere>) {
    const person = await atProvider(world, tenant, connection)
    const back = await person.browser.visit((await there(person.to)).url)
    return { ...person, grant: await person.flow.finish(back.url) }
  }
  /** What it asks of whoever signs out. */
  async function agree(there: ReturnType<typeof browserThere>, { url, html }: Visited) {
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
    return there(new URL('/session/end/confirm', url).href, { xsrf, logout: 'yes' })
  }
  return { world, tenant, connection, issuer, browserThere, comes, agree }
}

interface Visited {
  readonly url: string
  readonly html: string
}

t.test('people come in by it, as the same person each time', async (t) => {
  const { comes, browserThere, world } = await start(t)
  const first = await comes(browserThere())
  t.match(first.grant.claims(), { email: PERSON.email, name: PERSON.name })
  const second = await comes(browserThere())
  t.equal(second.grant.claims()?.sub, first.grant.claims()?.sub)
  t.match(await identitiesOf(world), [{ subject: 'grace-7' }])
})

t.test('whom it signs out, it signs out here', async (t) => {
  const { comes, browserThere, agree, world, issuer } = await start(t)
  const there = browserThere()
  const { grant } = await comes(there)
  const other = await comes(browserThere())
  const isOver = async (one: typeof grant) =>
    (await world.sessions.find('acme', sidOf(one)))?.endReason ?? undefined
  await agree(there, await there(`${issuer}/session/end`))
  await until('the session is over', async () => (await isOver(grant)) === 'upstream_logout')
  t.equal(await isOver(other.grant), undefined, 'of another session there')
})

t.test('whoever signs out here signs out there, and comes back', async (t) => {
  const { comes, browserThere, agree, tenant, issuer, world } = await start(t)
  const there = browserThere()
  const { grant, browser } = await comes(there)
  const { origin } = new URL(tenant.redirectUri)
  const query = new URLSearchParams({
    id_token_hint: String(grant.id_token),
    post_logout_redirect_uri: `${origin}/`,
  })
  const sent = await browser.once(`${tenant.issuer}/logout?${query.toString()}`)
  const to = sent.headers.get('location') ?? ''
  t.ok(to.startsWith(`${issuer}/session/end?`))
  const back = await agree(there, await there(to))
  t.ok(back.url.startsWith(`${tenant.issuer}/connections/`), back.url)
  t.equal((await browser.once(back.url)).headers.get('location'), `${origin}/`)
  const row = await world.sessions.find('acme', sidOf(grant))
  t.equal(row?.endReason, 'signed_out')
})
