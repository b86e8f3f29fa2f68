/** Tenants: what they are, and what state they are in. */
import * as v from 'valibot'
import type { ProtectionState, Tenant as TenantRecord } from '../../tenants/tenants.ts'
import {
  ChangedTenantAnswer,
  Enforced,
  NewTenantAnswer,
  ProtectionAnswer,
  RemovedTenantAnswer,
  Tenant,
} from '../answer-fields.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { enforcedAnswers, WAITS } from './enforced-answers.ts'
import { NothingBody } from '../../requests/fields.ts'
import { GoLiveBody } from '../../requests/key-fields.ts'
import {
  LicenceBody,
  NewTenantBody,
  PlanBody,
  TenantPatchBody,
  toLicence,
  toNewTenant,
} from '../../requests/tenant-fields.ts'
import { fromOutside } from '../../requests/field-names.ts'
import { protectionView, tenantView } from './views.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('tenants', 'operator')
const ONE = '/api/v1/operator/tenants/{tenant_id}'
const theTenant = { 200: json(Tenant, 'The updated tenant.') }
const changedTenant = {
  200: json(ChangedTenantAnswer, 'The tenant, and which gateways apply the change.'),
}
const ChangedProtection = v.strictObject({ ...ProtectionAnswer.entries, enforced: Enforced })

const STATES = {
  publish: {
    summary:
      'Publishes the tenant to the gateways in pass-through and creates its first signing key.',
    refusals: ['tenant_suspended'],
  },
  suspend: {
    summary: 'Suspends the tenant: every request gets 503 and sign-ins are refused.',
    refusals: ['tenant_draft'],
  },
  activate: { summary: 'Ends a suspension.', refusals: ['tenant_draft'] },
} as const

export function tenantEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { tenants } = world
  const enforcement = enforcedAnswers(world)
  const changed = async (tenant: TenantRecord) => ({
    ...tenantView(tenant, world),
    enforced: await enforcement.change(tenant.tenantId),
  })
  const turned = async (state: ProtectionState) => ({
    ...protectionView(state),
    enforced: await enforcement.change(state.tenantId),
  })
  return [
    operator.post('/api/v1/operator/tenants', {
      summary: 'Creates a tenant as a draft.',
      body: NewTenantBody,
      example: {
        tenant_id: 'acme',
        name: 'Acme',
        mode: 'gateway',
        plan: 'standard',
        hostnames: ['app.acme.example'],
        origin: 'http://10.0.0.5:3000',
        sealed: ['/internal'],
        excluded: ['/assets'],
        health: '/health',
        max_session_seconds: 28_800,
        idle_seconds: 900,
        session_binding: 'off',
      },
      answers: { 201: json(NewTenantAnswer, 'The tenant, with its secrets.') },
      refusals: ['tenant_taken', 'hostname_taken'],
      handle: async (c, { body }) => {
        const created = await tenants.create(toNewTenant(body), c.var.actor)
        const { analyzerKey: analyzer_key, clientSecret: client_secret } = created
        return c.json({ ...tenantView(created.tenant, world), analyzer_key, client_secret }, 201)
      },
    }),
    operator.get('/api/v1/operator/tenants', {
      summary: 'Lists the tenants by ID.',
      query: PAGE_QUERY,
      answers: { 200: json(pageOf(Tenant), 'One page of tenants.') },
      handle: async (c, { query }) =>
        c.json(mapPage(await tenants.list(query), (tenant) => tenantView(tenant, world))),
    }),
    operator.get(ONE, {
      summary: 'Shows one tenant.',
      answers: { 200: json(Tenant, 'The tenant.') },
      handle: async (c, { path }) => c.json(tenantView(await tenants.get(path.tenant_id), world)),
    }),
    operator.patch(ONE, {
      summary: 'Changes settings of a tenant; fields you leave out stay.',
      description: WAITS,
      body: TenantPatchBody,
      example: { name: 'Acme', sealed: ['/internal', '/admin'] },
      answers: changedTenant,
      refusals: ['hostname_taken', 'tenant_too_large'],
      handle: async (c, { path, body }) => {
        const tenant = await tenants.patch(path.tenant_id, fromOutside(body), c.var.actor)
        return c.json(await changed(tenant))
      },
    }),
    operator.delete(ONE, {
      summary: 'Deletes a tenant with everything that belongs to it.',
      description: WAITS,
      answers: {
        202: json(
          RemovedTenantAnswer,
          'The tenant is deleted, but a gateway has not confirmed it yet.',
        ),
        204: nothing('The tenant is deleted, and no gateway serves it.'),
      },
      handle: async (c, { path: { tenant_id: tenantId } }) => {
        await tenants.remove(tenantId, c.var.actor)
        const enforced = await world.changeEnforced(tenantId)
        return enforcement.gone(c, tenantId, enforced, { tenant_id: tenantId })
      },
    }),
    ...(['publish', 'suspend', 'activate'] as const).map((state) =>
      operator.post(`${ONE}/${state}`, {
        ...STATES[state],
        description: WAITS,
        body: NothingBody,
        answers: changedTenant,
        handle: async (c, { path }) =>
          c.json(await changed(await tenants[state](path.tenant_id, c.var.actor))),
      }),
    ),
    operator.post(`${ONE}/go-live`, {
      summary: 'Turns protection on; with `force`, even without verification.',
      description: WAITS,
      body: GoLiveBody,
      example: { force: false },
      answers: { 200: json(ChangedProtection, 'Protection is on.') },
      refusals: ['not_verified', 'local_checks_failed', 'tenant_draft', 'licence_blocked'],
      handle: async (c, { path, body }) =>
        c.json(await turned(await tenants.goLive(path.tenant_id, body, c.var.actor))),
    }),
    operator.post(`${ONE}/go-back`, {
      summary: 'Turns protection off and returns to pass-through. Always allowed.',
      description: WAITS,
      answers: { 200: json(ChangedProtection, 'Protection is off.') },
      handle: async (c, { path }) =>
        c.json(await turned(await tenants.goBack(path.tenant_id, c.var.actor))),
    }),
    operator.put(`${ONE}/licence`, {
      summary: 'Sets the state of the license, and when it changes automatically.',
      description:
        'Active, grace, expired: with dates it moves on by itself and sends `licence.changed`. Send ' +
        'all fields: those left out are reset. Existing sessions continue in every state.',
      body: LicenceBody,
      example: { state: 'active', blocks_signin: false, expires_at: '2099-12-31T23:00:00Z' },
      answers: theTenant,
      handle: async (c, { path, body }) => {
        const tenant = await tenants.setLicence(path.tenant_id, toLicence(body), c.var.actor)
        return c.json(tenantView(tenant, world))
      },
    }),
    operator.put(`${ONE}/plan`, {
      summary: 'Sets the plan.',
      body: PlanBody,
      example: { plan: 'premium' },
      answers: theTenant,
      handle: async (c, { path, body }) =>
        c.json(tenantView(await tenants.setPlan(path.tenant_id, body.plan, c.var.actor), world)),
    }),
  ]
}
