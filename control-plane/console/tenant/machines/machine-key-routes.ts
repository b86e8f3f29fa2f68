/** A public key of a machine, pasted as its program has made it. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { parseStrictJson } from '../../../http/strict-json.ts'
import { readPublicKey } from '../../../machines/public-key.ts'
import { linesField, type Attempt } from '../../../pages/blocks/field.ts'
import { NewMachineSecretBody } from '../../../requests/machine-fields.ts'
import { formCard } from '../../blocks/form.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { expiryField } from './machine-list.ts'

const PATH = `${TENANT_PATH}/machines/{service_id}/keys` as const
const Body = v.strictObject({ ...NewMachineSecretBody.entries, public_key: v.string() })

type MachineVisit = TenantVisit & { readonly path: { readonly service_id: string } }

export function machineKeyRoutes({
  machines,
}: Pick<ConsoleWorld, 'machines'>): readonly ConsoleRoute[] {
  async function view(visit: MachineVisit, attempt?: Attempt): Promise<View> {
    const { tenantId } = visit.tenant
    const { name, serviceId } = await machines.one(tenantId, visit.path.service_id)
    const back = tenantPath(tenantId, 'machines')
    return {
      title: `Add a public key of ${name}`,
      here: 'machines',
      intro: 'For clients that sign in at the token endpoint with private_key_jwt.',
      content: formCard(visit, {
        action: `${back}/${serviceId}/keys`,
        submit: 'Add key',
        cancel: back,
        attempt,
        content: html`${linesField({
          name: 'public_key',
          label: 'Public key',
          hint: `As JWK, for example {"kty": "OKP", "crv": "Ed25519", "x": "…"}. P-256, Ed25519, or RSA of at least ${LIMITS.serviceKeyBitsMin} bits. Never paste a private key.`,
          rows: 6,
          attempt,
        })}
        ${expiryField(attempt)}`,
      }),
      calls: [
        {
          method: 'POST',
          path: `/api/v1/operator/tenants/${tenantId}/services/${serviceId}/keys`,
          body: { public_key: { kty: 'OKP', crv: 'Ed25519', x: '…' } },
        },
      ],
    }
  }

  return [
    page({ path: PATH, role: 'tenant', needsFreshSignIn: true }, (visit) => view(visit)),
    action(
      {
        path: PATH,
        role: 'tenant',
        form: { public_key: 'secret', expires_in: 'whole' },
        body: Body,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, { public_key: text, expires_in: seconds }) => {
        const read = readPublicKey(jsonIn(text))
        if (read.kind === 'wrong')
          throw new Refusal('field_invalid', { field: 'public_key' }, `Must be ${read.wish}.`)
        const { tenantId } = visit.tenant
        const { service_id: serviceId } = visit.path
        await machines.addKey(tenantId, serviceId, { key: read.key, seconds }, visit.actor)
        const where = `${tenantPath(tenantId, 'machines')}#${serviceId}`
        return done(where, 'Key added.', { changed: tenantId })
      },
      view,
    ),
  ]
}

/** undefined: it is no JSON, and so no key. */
function jsonIn(text: string): unknown {
  try {
    return parseStrictJson(Buffer.from(text))
  } catch {
    return undefined
  }
}
