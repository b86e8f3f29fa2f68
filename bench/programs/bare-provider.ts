/**
 * oidc-provider with its adapter in memory and a page that lets everybody in: the same code flow as
 * that of a realm, with nothing kept, judged, sealed or counted. Asked by messages, as `realm.ts` is.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KoaContextWithOIDC } from 'oidc-provider'
import { Provider } from '../../control-plane/realm/oidc.ts'
import type { RealmContext } from '../../control-plane/realm/world.ts'
import { tellSpent } from './spent.ts'

const server = createServer()
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
const baseUrl = `http://127.0.0.1:${port}`
const tenant = {
  baseUrl,
  issuer: baseUrl,
  clientId: 'acme-user',
  clientSecret: randomBytes(24).toString('base64url'),
  redirectUri: 'http://acme.example:8000/service/callback',
}
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

const provider = new Provider(tenant.issuer, {
  clients: [
    {
      client_id: tenant.clientId,
      client_secret: tenant.clientSecret,
      redirect_uris: [tenant.redirectUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  ],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] },
  cookies: { keys: [randomBytes(32).toString('base64url')] },
  claims: { openid: ['sub', 'sid'], email: ['email'], profile: ['name'] },
  features: { devInteractions: { enabled: false } },
  pkce: { required: () => true },
  ttl: { Session: 28_800, Grant: 28_800, Interaction: 3600, AccessToken: 600, IdToken: 28_800 },
  interactions: { url: (_ctx, { uid }) => `/sign-in/${uid}` },
  findAccount: (_ctx, accountId) => ({
    accountId,
    claims: () => ({ sub: accountId, name: 'Ada Lovelace', email: 'ada@example.test' }),
  }),
  loadExistingGrant,
})

provider.use(async (ctx: RealmContext, next: () => Promise<unknown>) => {
  if (!ctx.path.startsWith('/sign-in/')) return next()
  if (ctx.method === 'GET') {
    const { uid } = await provider.interactionDetails(ctx.req, ctx.res)
    ctx.body = `<!doctype html><form method="post" action="/sign-in/${uid}">
<input name="username"><input name="password" type="password"><button>Sign in</button></form>`
    return
  }
  const accountId = new URLSearchParams(await bodyOf(ctx.req)).get('username') ?? ''
  ctx.respond = false
  await provider.interactionFinished(ctx.req, ctx.res, { login: { accountId } })
})
const answer = provider.callback()
server.on('request', (request, response) => void answer(request, response))
tellSpent()
process.send?.(tenant)

async function loadExistingGrant({ oidc }: KoaContextWithOIDC) {
  const { session, client } = oidc
  if (session?.accountId === undefined || client === undefined) return undefined
  const known = session.grantIdFor(client.clientId)
  if (known !== undefined) return provider.Grant.find(known)
  const { accountId } = session
  const grant = new provider.Grant({ clientId: client.clientId, accountId })
  grant.addOIDCScope('openid profile email')
  await grant.save()
  return grant
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
