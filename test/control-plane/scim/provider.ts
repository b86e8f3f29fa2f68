/** A tenant whose people are pushed by a provider, and that provider with its token. */
import type { Services } from '../../../control-plane/services/services.ts'
import { apiOf, type CallOptions } from '../../support/api.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
export const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

export const ada = {
  schemas: [USER],
  userName: 'ada@acme.example',
  externalId: 'ext-ada',
  active: true,
  displayName: 'Ada Lovelace',
  name: { givenName: 'Ada', familyName: 'Lovelace', formatted: 'Ada Lovelace' },
  emails: [{ primary: true, type: 'work', value: 'ada@acme.example' }],
}

export const personNamed = (userName: string, more: object = {}) => ({
  schemas: [USER],
  userName,
  active: true,
  emails: [{ type: 'work', value: `${userName}@acme.example` }],
  ...more,
})

export const patching = (...operations: object[]) => ({
  schemas: [PATCH_OP],
  Operations: operations,
})

const YEAR_SECONDS = 365 * 24 * 3600

export async function tokenFor(
  services: Services,
  tenantId: string,
  connectionId: string | null = null,
) {
  const asked = { name: 'Entra', expiresIn: YEAR_SECONDS, connectionId }
  return services.scimTokens.make(tenantId, asked, ACTOR)
}

export async function startProvider(...[t, options = {}]: Parameters<typeof startServices>) {
  const clock = movableClock()
  const services = await startServices(t, { clock, ...options })
  const api = apiOf(services)
  for (const tenantId of ['acme', 'other'])
    await services.tenants.create(tenantNamed(tenantId), ACTOR)
  const { token, tokenId } = await tokenFor(services, 'acme')

  async function scim(method: string, path: string, body?: unknown, more: CallOptions = {}) {
    const options = { key: token, type: 'application/scim+json', ...more }
    return api.call(method, `/scim/v2/acme${path}`, body, options)
  }

  async function push(person: object = ada): Promise<string> {
    const answer = await scim('POST', '/Users', person)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return answer.body['id'] as string
  }

  async function pushGroup(displayName: string, members: readonly string[] = []): Promise<string> {
    const body = { schemas: [GROUP], displayName, members: members.map((value) => ({ value })) }
    const answer = await scim('POST', '/Groups', body)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return answer.body['id'] as string
  }

  const membersOf = async (groupId: string) =>
    ((await scim('GET', `/Groups/${groupId}`)).body['members'] as { value: string }[]).map(
      ({ value }) => value,
    )

  return { ...api, services, clock, token, tokenId, scim, push, pushGroup, membersOf }
}

/** Of somebody who is signed in. */
export const recordSession = (services: Services, sid: string, userId: string) =>
  services.sessions.record({
    ...{ sid, tenantId: 'acme', userId, ip: '', userAgent: '' },
    ...{
      issuedAtMs: services.clock.nowMs() - 5000,
      expiresAtMs: services.clock.nowMs() + 3_600_000,
    },
  })

export async function auditOf(services: Services, action: string) {
  const { items } = await services.auditTrail.search({ limit: 100 }, {})
  return items.filter((entry) => entry.action === action)
}
