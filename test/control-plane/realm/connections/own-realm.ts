/** Two tenants: our own realm `alpha` is the provider, and `beta` the application that trusts it. */
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { decodeJwt } from 'jose'
import type { Test } from 'tap'
import { systemClock, type Clock } from '../../../../shared/clock.ts'
import { commonAuthority, commonCertificate } from '../../../support/test-certificates.ts'
import { ACTOR, ADA, Browser, exchange, startWorld, type BrowserRequest } from '../realm-world.ts'
import { startNames } from './connected.ts'

const HOST = 'id.company.example'
export const EMAIL = 'ada@company.example'

/** What a browser sends to the name of the service arrives where the realm really listens. */
class Visitor extends Browser {
  readonly #from: string
  readonly #to: string

  constructor(from: string, to: string) {
    super(from)
    this.#from = from
    this.#to = to
  }

  override once(url: string, init: BrowserRequest = {}) {
    return super.once(url.replace(this.#from, this.#to), init)
  }
}

export async function startOwnRealm(t: Test, clock: Clock = systemClock) {
  const leaf = commonCertificate(HOST, [])
  const front = createServer({ key: leaf.private_key_pem, cert: leaf.certificate_pem })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const baseUrl = `https://${HOST}:${(front.address() as AddressInfo).port}`
  const names = startNames()
  const world = await startWorld(t, {
    baseUrl,
    clock,
    resolveTxt: names.resolveTxt,
    receivers: {
      allowPrivate: ['127.0.0.0/8'],
      egressProxy: null,
      resolve: async () => ['127.0.0.1'],
      ca: commonAuthority().caPem,
    },
  })
  front.on('request', (request, response) => void world.realms.handle(request, response))
  t.teardown(() => {
    front.closeAllConnections()
    front.close()
  })
  const alpha = await world.tenant('alpha')
  const beta = await world.tenant('beta')
  await world.users.patch('alpha', alpha.ada.userId, { email: EMAIL }, ACTOR)
  await world.groups.create('alpha', { name: 'staff' }, ACTOR)
  const membership = { tenantId: 'alpha', group: 'staff', source: 'local' } as const
  await world.groups.add({ ...membership, userId: alpha.ada.userId }, ACTOR)

  await world.groups.create('beta', { name: 'of alpha' }, ACTOR)
  const draft = await world.connections.create(
    'beta',
    {
      ...{ preset: 'oidc', name: 'Alpha', issuer: alpha.issuer, hostedDomain: null },
      ...{ clientId: 'none yet', clientSecret: 'none yet', createsPeople: true, mfaValues: [] },
      ...{ signsOut: true, attributes: [{ attribute: 'team', claim: 'groups' }] },
      ...{ groupsClaim: 'groups', groups: [{ value: 'staff', group: 'of alpha' }] },
    },
    ACTOR,
  )
  const { connectionId } = draft
  const own = `${beta.issuer}/connections/${connectionId}`
  const client = await world.realmClients.create(
    'alpha',
    {
      name: 'Beta',
      redirectUris: [`${own}/callback`],
      postLogoutRedirectUris: [`${own}/signed-out`],
      backchannelLogoutUri: `${own}/back-channel-logout`,
      isToldGroups: true,
    },
    ACTOR,
  )
  const { clientId, clientSecret } = client
  const settings = { clientId, clientSecret }
  const { updatedAt } = await world.connections.patch('beta', connectionId, settings, ACTOR)

  const browser = () => new Visitor(baseUrl, world.address)
  const local = (url: string) => url.replace(baseUrl, world.address)
  const proveEmail = () =>
    world.users.proveEmail('alpha', alpha.ada.userId, EMAIL, ACTOR, async () => {})
  const activate = async () => {
    await world.connections.noteTested('beta', connectionId, updatedAt, ACTOR)
    await world.connections.activate('beta', connectionId, ACTOR)
  }

  /** At the application of beta, up to alpha's page. */
  async function toAlpha(by = browser(), parameters: Record<string, string> = {}) {
    const verifier = randomBytes(32).toString('base64url')
    const query = new URLSearchParams({
      ...{ client_id: beta.clientId, redirect_uri: beta.redirectUri, response_type: 'code' },
      ...{ scope: 'openid profile email', state: 's', code_challenge_method: 'S256' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      ...parameters,
    })
    const page = await by.visit(`${beta.issuer}/authorize?${query.toString()}`)
    const there = await by.visit(`${page.url.split('?')[0]}/connection/${connectionId}`)
    return { by, there, verifier }
  }

  /** The token of a session at beta, for the way back. */
  async function tokenFor(url: string, verifier: string, tenant = beta) {
    const code = new URL(url).searchParams.get('code') ?? ''
    const issuer = local(tenant.issuer)
    const answer = await exchange({ ...tenant, issuer }, { code, code_verifier: verifier })
    const { id_token: token = '' } = (await answer.json()) as { id_token?: string }
    return { token, claims: token === '' ? undefined : decodeJwt(token) }
  }

  /** At alpha's own application. */
  async function atAlpha(by = browser()) {
    const verifier = randomBytes(32).toString('base64url')
    const query = new URLSearchParams({
      ...{ client_id: alpha.clientId, redirect_uri: alpha.redirectUri, response_type: 'code' },
      ...{ scope: 'openid', state: 's', code_challenge_method: 'S256' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    })
    const page = await by.visit(`${alpha.issuer}/authorize?${query.toString()}`)
    const back = page.html.includes('name="password"') ? await by.submit(page.url, ADA) : page
    return { by, ...(await tokenFor(back.url, verifier, alpha)) }
  }

  async function comes(by = browser()) {
    const { there, verifier } = await toAlpha(by)
    const back = there.html.includes('name="password"') ? await by.submit(there.url, ADA) : there
    return { by, there, back, ...(await tokenFor(back.url, verifier)) }
  }

  const endOf = async (tenantId: string, sid: unknown) =>
    (await world.sessions.find(tenantId, String(sid)))?.endReason ?? undefined

  const parts = { world, names, alpha, beta, client, connectionId, own, baseUrl }
  return {
    ...parts,
    browser,
    local,
    atAlpha,
    proveEmail,
    activate,
    toAlpha,
    tokenFor,
    comes,
    endOf,
  }
}
