/** A tenant that is suspended, activated or deleted: asked first, with what happens to whom. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../tenants/tenants.ts'
import { textField } from '../../blocks/field.ts'
import { confirmView } from '../../blocks/form.ts'
import { action, done, page, type View } from '../../route.ts'
import type { Attempt } from '../../form-values.ts'
import type { ConsoleWorld } from '../../world.ts'
import { SETTINGS, settingsAt, type OfTenant } from './settings-routes.ts'

const DeleteForm = v.strictObject({ name: v.string('the name of the tenant') })

export function tenantStateRoutes({ tenants }: Pick<ConsoleWorld, 'tenants'>) {
  async function askToSuspend(visit: OfTenant): Promise<View> {
    const tenant = await tenants.get(visit.path.tenant_id)
    const { tenantId, name } = tenant
    return {
      here: 'settings',
      tenant,
      ...confirmView(visit, {
        title: `Suspend ${name}?`,
        effects: [
          `Every request to ${whereOf(tenant)} is answered with 503, whoever asks.`,
          'Nobody can sign in. Sessions are kept, and go on when it is activated within their time.',
          'Its webhooks are told. Nothing is deleted.',
        ],
        action: `${settingsAt(tenantId)}/suspend`,
        submit: 'Suspend it',
        cancel: settingsAt(tenantId),
      }),
      calls: [{ method: 'POST', path: `/api/v1/operator/tenants/${tenantId}/suspend` }],
    }
  }

  async function askToDelete(visit: OfTenant, attempt?: Attempt): Promise<View> {
    const tenant = await tenants.get(visit.path.tenant_id)
    const { tenantId, name } = tenant
    return {
      here: 'settings',
      tenant,
      ...confirmView(visit, {
        title: `Delete ${name}?`,
        effects: [
          `Gateways forget it: ${whereOf(tenant)} is answered with 404 from then on.`,
          'Everybody is signed out, and all of its users are deleted with their second factors and devices.',
          'Its keys, certificates, policies, alerts and webhooks go as well, with every delivery and every recorded sign-in.',
          'Its administrators lose this role. What was done stays in the audit trail.',
          html`<strong>Nothing of it can be brought back.</strong>`,
        ],
        action: `${settingsAt(tenantId)}/delete`,
        submit: 'Delete it for good',
        cancel: settingsAt(tenantId),
        content: textField({
          name: 'name',
          label: `Type “${name}” to go on`,
          attempt,
        }),
        attempt,
      }),
      calls: [{ method: 'DELETE', path: `/api/v1/operator/tenants/${tenantId}` }],
    }
  }

  return [
    page({ path: `${SETTINGS}/suspend`, role: 'operator', needsFreshSignIn: true }, askToSuspend),
    action(
      { path: `${SETTINGS}/suspend`, role: 'operator', needsFreshSignIn: true },
      async ({ path: { tenant_id: tenantId }, actor }) => {
        const { name } = await tenants.suspend(tenantId, actor)
        return done(settingsAt(tenantId), `${name} is suspended.`, { changed: tenantId })
      },
    ),
    action(
      { path: `${SETTINGS}/activate`, role: 'operator' },
      async ({ path: { tenant_id: tenantId }, actor }) => {
        const { name } = await tenants.activate(tenantId, actor)
        return done(settingsAt(tenantId), `${name} is served again.`, { changed: tenantId })
      },
    ),
    page({ path: `${SETTINGS}/delete`, role: 'operator', needsFreshSignIn: true }, (visit) =>
      askToDelete(visit),
    ),
    action(
      {
        path: `${SETTINGS}/delete`,
        role: 'operator',
        form: { name: 'text' },
        body: DeleteForm,
        needsFreshSignIn: true,
      },
      async ({ path: { tenant_id: tenantId }, actor }, typed) => {
        const { name, status } = await tenants.get(tenantId)
        if (typed.name.trim() !== name.trim())
          throw new Refusal('field_invalid', { field: 'name' }, 'This is not its name.')
        const goneBy = await tenants.remove(tenantId, actor)
        const isServed = status !== 'draft'
        return done(
          '/console/tenants',
          `${name} is deleted.`,
          isServed ? { changed: tenantId, goneBy } : {},
        )
      },
      askToDelete,
    ),
  ]
}

function whereOf({ hostnames: [first, ...others], origin }: Tenant): string {
  if (first === undefined) return origin
  return others.length === 0 ? first : `${first} and ${others.length} more`
}
