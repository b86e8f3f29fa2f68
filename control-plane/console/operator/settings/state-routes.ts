/** A tenant that is suspended, activated or deleted: asked first, with what happens to whom. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../tenants/tenants.ts'
import { asking } from '../../asking.ts'
import { textField } from '../../../pages/blocks/field.ts'
import { action, done } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { SETTINGS, settingsAt } from './settings-routes.ts'

const DeleteForm = v.strictObject({ name: v.string('the name of the tenant') })

export function tenantStateRoutes({ tenants }: ConsoleWorld) {
  return [
    ...asking(
      { path: `${SETTINGS}/suspend`, role: 'operator', needsFreshSignIn: true, here: 'settings' },
      async ({ path }) => {
        const tenant = await tenants.get(path.tenant_id)
        const { tenantId, name } = tenant
        return {
          tenant,
          title: `Suspend ${name}?`,
          effects: [
            `Every request to ${whereOf(tenant)} returns 503.`,
            'Nobody can sign in. Sessions that have not expired continue after you reactivate it.',
            'Its webhooks are notified. Nothing is deleted.',
          ],
          submit: 'Suspend tenant',
          cancel: settingsAt(tenantId),
          calls: [{ method: 'POST', path: `/api/v1/operator/tenants/${tenantId}/suspend` }],
        }
      },
      async ({ path: { tenant_id: tenantId }, actor }) => {
        const { name } = await tenants.suspend(tenantId, actor)
        return done(settingsAt(tenantId), `${name} is suspended.`, { changed: tenantId })
      },
    ),
    action(
      { path: `${SETTINGS}/activate`, role: 'operator' },
      async ({ path: { tenant_id: tenantId }, actor }) => {
        const { name } = await tenants.activate(tenantId, actor)
        return done(settingsAt(tenantId), `${name} is active again.`, { changed: tenantId })
      },
    ),
    ...asking(
      {
        path: `${SETTINGS}/delete`,
        role: 'operator',
        form: { name: 'text' },
        body: DeleteForm,
        needsFreshSignIn: true,
        here: 'settings',
        isAskedAgain: true,
      },
      async ({ path }, attempt) => {
        const tenant = await tenants.get(path.tenant_id)
        const { tenantId, name } = tenant
        return {
          tenant,
          title: `Delete ${name}?`,
          effects: [
            `${whereOf(tenant)} returns 404 from then on.`,
            'Everyone is signed out. All users are deleted with their second factors and devices.',
            'Its keys, certificates, policies, alerts and webhooks are deleted, including all deliveries and recorded sign-ins.',
            'Its administrators lose access. The audit trail is kept.',
            html`<strong>This can’t be undone.</strong>`,
          ],
          submit: 'Delete tenant',
          cancel: settingsAt(tenantId),
          content: textField({ name: 'name', label: `Type “${name}” to confirm`, attempt }),
          calls: [{ method: 'DELETE', path: `/api/v1/operator/tenants/${tenantId}` }],
        }
      },
      async ({ path: { tenant_id: tenantId }, actor }, typed) => {
        const { name, status } = await tenants.get(tenantId)
        if (typed.name.trim() !== name.trim())
          throw new Refusal(
            'field_invalid',
            { field: 'name' },
            'The name doesn’t match. Type it exactly as shown.',
          )
        const goneBy = await tenants.remove(tenantId, actor)
        const isServed = status !== 'draft'
        return done(
          '/console/tenants',
          `${name} is deleted.`,
          isServed ? { changed: tenantId, goneBy } : {},
        )
      },
    ),
  ]
}

function whereOf({ hostnames: [first, ...others], origin }: Tenant): string {
  if (first === undefined) return origin
  return others.length === 0 ? first : `${first} and ${others.length} more`
}
