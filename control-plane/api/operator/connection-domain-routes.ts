/** E-mail domains of connections, which lead people to their provider. */
import { domainProofOf, domainRecordOf, type ConnectionDomain } from '../../connections/domains.ts'
import { DomainAnswer, DomainCheckAnswer, NewDomainBody } from '../../requests/domain-fields.ts'
import { viewOf } from '../../requests/field-names.ts'
import { NothingBody } from '../../requests/fields.ts'
import { pageOf } from '../../requests/paging.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('connections', 'operator')
const ALL = '/api/v1/operator/tenants/{tenant_id}/connections/{connection_id}/domains'
const ONE = `${ALL}/{domain}` as const

const ofDomain = viewOf(DomainAnswer)
const view = (domain: ConnectionDomain) =>
  ofDomain({
    ...domain,
    recordName: domainRecordOf(domain.domain),
    proof: domainProofOf(domain.token),
  })

export function connectionDomainEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { connections, connectionDomains } = world
  return [
    operator.get(ALL, {
      summary: 'Lists the email domains of a connection, with what proves them.',
      answers: { 200: json(pageOf(DomainAnswer), 'Every domain.') },
      refusals: ['connection_not_found'],
      handle: async (c, { path }) => {
        const { tenantId, connectionId } = await connections.get(path.tenant_id, path.connection_id)
        const all = await connectionDomains.list(tenantId, connectionId)
        return c.json({ items: all.map(view), next: null })
      },
    }),
    operator.post(ALL, {
      summary: 'Adds an email domain, which leads people to the connection once it is proven.',
      description:
        'Publish the TXT record that the answer names. It is checked by itself after growing ' +
        'pauses, and daily once it was found; a domain whose record is missing for two weeks is ' +
        'not used until the record is back.',
      body: NewDomainBody,
      example: { domain: 'example.com' },
      answers: { 201: json(DomainAnswer, 'What proves it.') },
      refusals: ['connection_not_found', 'domain_taken', 'domains_exhausted'],
      handle: async (c, { path, body }) => {
        const { tenantId, connectionId } = await connections.get(path.tenant_id, path.connection_id)
        const { actor } = c.var
        return c.json(
          view(await connectionDomains.add(tenantId, connectionId, body.domain, actor)),
          201,
        )
      },
    }),
    operator.post(`${ONE}/check`, {
      summary: 'Looks for the record now, at most every ten seconds.',
      body: NothingBody,
      answers: { 200: json(DomainCheckAnswer, 'Whether the domain counts as proven.') },
      refusals: ['connection_not_found', 'domain_not_found', 'domain_just_checked'],
      handle: async (c, { path }) => {
        const { tenantId, connectionId } = await connections.get(path.tenant_id, path.connection_id)
        const domain = path.domain.toLowerCase()
        const isProven = await connectionDomains.check(tenantId, connectionId, domain, c.var.actor)
        return c.json({ domain, is_proven: isProven })
      },
    }),
    operator.delete(ONE, {
      summary: 'Removes a domain; the identities that people have stay.',
      answers: { 204: nothing('The domain is removed.') },
      refusals: ['connection_not_found', 'domain_not_found'],
      handle: async (c, { path }) => {
        const { tenantId, connectionId } = await connections.get(path.tenant_id, path.connection_id)
        const domain = path.domain.toLowerCase()
        await connectionDomains.remove(tenantId, connectionId, domain, c.var.actor)
        return c.body(null, 204)
      },
    }),
  ]
}
