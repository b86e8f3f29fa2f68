/**
 * What an application needs of its tenant: the public keys, and whether it is protected. No secret,
 * but never from a stale cache either.
 */
import { Refusal } from '../../shared/errors.ts'
import { PEM_FILENAME } from '../../shared/integration/contract.ts'
import { KeysAnswer } from './answer-fields.ts'
import type { ApiContext } from '../http/context.ts'
import { endpointsOf, file, type Endpoint } from './endpoint.ts'
import type { ApiWorld } from './world.ts'

const analyzerInQuery = endpointsOf('integration', 'analyzer_in_query')
const anyone = endpointsOf('integration', 'anyone')

const PEM_TYPE = 'application/x-pem-file'

export function publicKeyEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { keys, tenants, protectionStatements } = world
  return [
    analyzerInQuery.get('/api/v1/public-key', {
      summary: "Downloads the tenant's public keys as one PEM file.",
      answers: { 200: file(PEM_TYPE, 'Every key that is valid now, the current one first.') },
      refusals: ['not_published'],
      handle: async (c) => {
        const published = await keys.publicKeys(c.var.tenant.tenantId)
        if (published.length === 0) throw new Refusal('not_published')
        return pemFile(c, published)
      },
    }),
    anyone.get('/tenants/{tenant_id}/public-key', {
      summary: 'Shows the public keys that the application should accept now, as a JWKS.',
      description:
        'During a rotation there are two: the current one and the next one. With ' +
        `\`Accept: ${PEM_TYPE}\` the answer is one PEM file.`,
      headers: { Accept: `\`${PEM_TYPE}\` for PEM; anything else for JSON.` },
      answers: {
        200: {
          description: 'The keys.',
          content: { 'application/json': KeysAnswer, [PEM_TYPE]: null },
        },
      },
      refusals: ['not_published'],
      handle: async (c, { path }) => {
        const tenant = await tenants.get(path.tenant_id)
        const published = await keys.publicKeys(tenant.tenantId)
        if (published.length === 0) throw new Refusal('not_published')
        c.header('Cache-Control', 'no-cache')
        c.header('Vary', 'Accept')
        return wantsPem(c) ? pemFile(c, published) : c.json({ keys: published })
      },
    }),
    anyone.get('/tenants/{tenant_id}/protection', {
      summary: 'Shows whether the tenant is protected, signed with its current key.',
      description:
        'A JWT with `typ` `service-protection+jwt`, `iss`, `aud`, `iat`, `exp` (30 seconds) and ' +
        '`protection`: `on` or `pass-through`. While it says `pass-through`, the edge adds no ' +
        'identity, so the middleware lets requests without claims pass; without it, none.',
      answers: { 200: file('application/jwt', 'The statement.') },
      refusals: ['not_published'],
      handle: async (c, { path }) => {
        const statement = await protectionStatements.statement(path.tenant_id)
        return c.body(statement, 200, {
          'Content-Type': 'application/jwt',
          'Cache-Control': 'no-store',
        })
      },
    }),
  ]
}

function pemFile(c: ApiContext, published: readonly { readonly pem: string }[]): Response {
  return c.body(published.map(({ pem }) => pem).join(''), 200, {
    'Content-Type': PEM_TYPE,
    'Content-Disposition': `attachment; filename="${PEM_FILENAME}"`,
  })
}

function wantsPem(c: ApiContext): boolean {
  const types = (c.req.header('accept') ?? '').split(',')
  return types.some((type) => type.split(';', 1)[0]?.trim().toLowerCase() === PEM_TYPE)
}
