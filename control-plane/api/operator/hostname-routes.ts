/** Hostnames of a tenant that are served once they were shown to be its own. */
import { PROOF_PATH, proofOf, proofRecordOf } from '../../hostnames/proof.ts'
import { viewOf } from '../../requests/field-names.ts'
import { NothingBody } from '../../requests/fields.ts'
import {
  HostnameCheckAnswer,
  HostnameClaimAnswer,
  NewHostnameClaimBody,
} from '../../requests/hostname-fields.ts'
import { pageOf } from '../../requests/paging.ts'
import type { HostnameClaim } from '../../store/queries/hostname-claims.ts'
import type { ApiWorld } from '../world.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'

const operator = endpointsOf('tenants', 'operator')
const CLAIMS = '/api/v1/operator/tenants/{tenant_id}/hostname-claims'
const ONE = `${CLAIMS}/{hostname}` as const

const view = viewOf(HostnameClaimAnswer)
const ofClaim = (claim: HostnameClaim) =>
  view({
    ...claim,
    recordName: proofRecordOf(claim.hostname),
    fileUrl: `http://${claim.hostname}${PROOF_PATH}`,
    proof: proofOf(claim.token),
  })

export function hostnameEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { tenants, hostnames } = world
  return [
    operator.get(CLAIMS, {
      summary: 'Lists the hostnames that wait for a proof, with what proves them.',
      answers: { 200: json(pageOf(HostnameClaimAnswer), 'Every one of them, on one page.') },
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        return c.json({ items: (await hostnames.list(tenantId)).map(ofClaim), next: null })
      },
    }),
    operator.post(CLAIMS, {
      summary: 'Adds a hostname that is served once it was shown to be the tenant’s own.',
      description:
        'It is checked by itself after growing pauses, for 30 days. `PATCH` of the tenant adds one without a proof.',
      body: NewHostnameClaimBody,
      example: { hostname: 'app.example.com' },
      answers: { 201: json(HostnameClaimAnswer, 'What proves it.') },
      refusals: ['hostname_taken', 'hostname_claims_full'],
      handle: async (c, { path, body }) =>
        c.json(ofClaim(await hostnames.claim(path.tenant_id, body.hostname, c.var.actor)), 201),
    }),
    operator.post(`${ONE}/check`, {
      summary: 'Looks for the proof now, at most every ten seconds.',
      body: NothingBody,
      answers: { 200: json(HostnameCheckAnswer, 'Whether it was found.') },
      refusals: [
        'hostname_not_found',
        'hostname_just_checked',
        'hostname_taken',
        'hostname_claims_full',
        'tenant_too_large',
      ],
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        const hostname = path.hostname.toLowerCase()
        const isProven = await hostnames.check(tenantId, hostname, c.var.actor)
        return c.json({ hostname, is_proven: isProven })
      },
    }),
    operator.delete(ONE, {
      summary: 'Withdraws a hostname that waits for its proof.',
      answers: { 204: nothing('It is not waited for any more.') },
      refusals: ['hostname_not_found'],
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        await hostnames.withdraw(tenantId, path.hostname.toLowerCase(), c.var.actor)
        return c.body(null, 204)
      },
    }),
  ]
}
