/** A new tenant: the form of the operator API's call, with the same schema behind it. */
import { html } from 'hono/html'
import { MODES, PLANS } from '../../../shared/fleet/snapshot.ts'
import { NewTenantBody, toNewTenant } from '../../requests/tenant-fields.ts'
import type { Tenants } from '../../tenants/tenants.ts'
import { linesField, selectField, textField, type Attempt } from '../../pages/blocks/field.ts'
import { formCard } from '../blocks/form.ts'
import { tenantPath } from '../navigation.ts'
import { action, done, page, type ConsoleRoute, type View, type ViewerVisit } from '../route.ts'
import { MODE_LABELS } from './settings/settings-form.ts'

const PATH = '/console/tenants/new'

function show(visit: ViewerVisit, attempt?: Attempt): View {
  return {
    title: 'New tenant',
    intro: 'A draft, until it is published: nobody notices anything before that.',
    here: 'tenants',
    content: formCard(visit, {
      action: PATH,
      submit: 'Create the tenant',
      cancel: '/console/tenants',
      attempt,
      content: html`
          ${textField({ name: 'tenant_id', label: 'Id', hint: 'Lower-case letters, digits and dashes. It stands in addresses and stays.', placeholder: 'acme', attempt })}
          ${textField({ name: 'name', label: 'Name', hint: 'People see it when they sign in.', isOptional: true, attempt })}
          ${selectField({ name: 'mode', label: 'Where it is enforced', options: MODES.map((value) => ({ value, label: MODE_LABELS[value] })), value: 'gateway', attempt })}
          ${selectField({ name: 'plan', label: 'Plan', options: PLANS.map((value) => ({ value, label: value })), value: 'standard', attempt })}
          ${linesField({ name: 'hostnames', label: 'Hostnames', hint: 'What browsers ask for, one a line. At least one, unless in SDK mode.', isOptional: true, attempt })}
          ${textField({ name: 'origin', label: 'Origin', type: 'url', hint: 'Where the application is: http://10.0.0.5:3000, without a path.', attempt })}
          ${linesField({ name: 'sealed', label: 'Sealed paths', hint: 'They do not exist for the outside. One a line.', isOptional: true, attempt })}
          ${linesField({ name: 'excluded', label: 'Open paths', hint: 'Served without a sign-in. One a line.', isOptional: true, attempt })}
          ${textField({ name: 'health', label: 'Health path', value: '/health', hint: 'Where the application says that it is well, and answers probes.', attempt })}
        `,
    }),
    calls: [
      {
        method: 'POST',
        path: '/api/v1/operator/tenants',
        body: {
          tenant_id: 'acme',
          hostnames: ['app.acme.example'],
          origin: 'http://10.0.0.5:3000',
        },
      },
    ],
  }
}

export function newTenantRoutes({ tenants }: { readonly tenants: Pick<Tenants, 'create'> }) {
  return [
    page({ path: PATH, role: 'operator', isForForm: true }, (visit) => show(visit)),
    action(
      {
        path: PATH,
        role: 'operator',
        form: {
          tenant_id: 'text',
          name: 'optional',
          mode: 'text',
          plan: 'text',
          hostnames: 'lines',
          origin: 'text',
          sealed: 'lines',
          excluded: 'lines',
          health: 'text',
        },
        body: NewTenantBody,
        isOnce: true,
      },
      async (visit, body) => {
        const { tenant } = await tenants.create(toNewTenant(body), visit.actor)
        return done(tenantPath(tenant.tenantId), `${tenant.name} is there, as a draft.`, {
          changed: tenant.tenantId,
        })
      },
      show,
    ),
  ] as const satisfies readonly ConsoleRoute[]
}
