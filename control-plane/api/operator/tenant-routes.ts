/** Tenants: what they are, and what state they are in. */
import { Hono } from 'hono'
import type { Certificates } from '../../tenants/certificates.ts'
import type { NewTenant, TenantPatch, Tenants } from '../../tenants/tenants.ts'
import type { SigningKeys } from '../../keys/signing-keys.ts'
import type { ApiEnv } from '../api-env.ts'
import { readJson } from '../body.ts'
import { mapPage, pageRequestOf } from '../paging.ts'
import {
  CertificateBody,
  GoLiveBody,
  LicenceBody,
  NewTenantBody,
  NothingBody,
  PlanBody,
  RotationBody,
  TenantPatchBody,
} from './fields.ts'
import { protectionView, tenantView, type ViewWorld } from './views.ts'

export interface TenantRoutesWorld extends ViewWorld {
  readonly tenants: Tenants
  readonly keys: SigningKeys
  readonly certificates: Certificates
}

export function tenantRoutes(world: TenantRoutesWorld) {
  const { tenants, keys, certificates } = world
  const app = new Hono<ApiEnv>()

  app.post('/', async (c) => {
    const body = await readJson(c, NewTenantBody)
    const {
      tenant_id: tenantId,
      max_session_seconds,
      idle_seconds,
      session_binding,
      ...same
    } = body
    const input: NewTenant = {
      ...same,
      tenantId,
      name: body.name ?? tenantId,
      maxSessionSeconds: max_session_seconds,
      idleSeconds: idle_seconds,
      sessionBinding: session_binding,
    }
    const created = await tenants.create(input, c.var.actor)
    const secrets = {
      analyzer_key: created.analyzerKey,
      client_id: created.clientId,
      client_secret: created.clientSecret,
    }
    return c.json({ ...tenantView(created.tenant, world), ...secrets }, 201)
  })

  app.get('/', async (c) => {
    const page = await tenants.list(pageRequestOf(c))
    return c.json(mapPage(page, (tenant) => tenantView(tenant, world)))
  })

  app.get('/:id', async (c) => c.json(tenantView(await tenants.get(c.req.param('id')), world)))

  app.patch('/:id', async (c) => {
    const patch = toPatch(await readJson(c, TenantPatchBody))
    return c.json(tenantView(await tenants.patch(c.req.param('id'), patch, c.var.actor), world))
  })

  app.delete('/:id', async (c) => {
    await tenants.remove(c.req.param('id'), c.var.actor)
    return c.body(null, 204)
  })

  for (const state of ['publish', 'suspend', 'activate'] as const)
    app.post(`/:id/${state}`, async (c) => {
      await readJson(c, NothingBody)
      return c.json(tenantView(await tenants[state](c.req.param('id'), c.var.actor), world))
    })

  app.post('/:id/go-live', async (c) => {
    const options = await readJson(c, GoLiveBody)
    return c.json(protectionView(await tenants.goLive(c.req.param('id'), options, c.var.actor)))
  })

  /** Whatever the body says: going back is never refused. */
  app.post('/:id/go-back', async (c) =>
    c.json(protectionView(await tenants.goBack(c.req.param('id'), c.var.actor))),
  )

  app.put('/:id/licence', async (c) => {
    const { state, blocks_signin: blocksSignin } = await readJson(c, LicenceBody)
    const id = c.req.param('id')
    const tenant = await tenants.setLicence(id, { state, blocksSignin }, c.var.actor)
    return c.json(tenantView(tenant, world))
  })

  app.put('/:id/plan', async (c) => {
    const { plan } = await readJson(c, PlanBody)
    return c.json(tenantView(await tenants.setPlan(c.req.param('id'), plan, c.var.actor), world))
  })

  app.post('/:id/keys/rotate', async (c) => {
    const { private_key_pem: privateKeyPem, ...rotation } = await readJson(c, RotationBody)
    const id = c.req.param('id')
    return c.json({ keys: await keys.rotate(id, { ...rotation, privateKeyPem }, c.var.actor) })
  })

  app.put('/:id/certificates/:hostname', async (c) => {
    const body = await readJson(c, CertificateBody)
    const certificate = {
      hostname: c.req.param('hostname').toLowerCase(),
      certificatePem: body.certificate_pem,
      privateKeyPem: body.private_key_pem,
    }
    const facts = await certificates.put(c.req.param('id'), certificate, c.var.actor)
    return c.json({
      hostname: facts.hostname,
      not_before: facts.notBefore,
      not_after: facts.notAfter,
      fingerprint_sha256: facts.fingerprintSha256,
    })
  })

  app.post('/:id/analyzer-key/rotate', async (c) => {
    await readJson(c, NothingBody)
    const id = c.req.param('id')
    return c.json({
      tenant_id: id,
      analyzer_key: await tenants.rotateAnalyzerKey(id, c.var.actor),
    })
  })

  app.post('/:id/client-secret/rotate', async (c) => {
    await readJson(c, NothingBody)
    const id = c.req.param('id')
    return c.json({
      tenant_id: id,
      client_id: `${id}-user`,
      client_secret: await tenants.rotateClientSecret(id, c.var.actor),
    })
  })

  return app
}

type PatchBody = Record<string, unknown>

const RENAMED: Readonly<Record<string, keyof TenantPatch>> = {
  max_session_seconds: 'maxSessionSeconds',
  idle_seconds: 'idleSeconds',
  session_binding: 'sessionBinding',
  brand_colour: 'brandColour',
  brand_logo: 'brandLogo',
  backchannel_logout_uri: 'backchannelLogoutUri',
}

/** What was checked by `TenantPatchBody`, under the names that the inside uses. */
function toPatch(body: PatchBody): TenantPatch {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [RENAMED[name] ?? name, value]),
  )
}
