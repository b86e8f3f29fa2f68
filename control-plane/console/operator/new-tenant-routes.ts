/** A new tenant: the form of the operator API's call, with the same schema behind it. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { MODES, PLANS } from '../../../shared/fleet/snapshot.ts'
import { DEVICE_PATH } from '../../console-access/device-codes.ts'
import { readUserCode } from '../../keys/user-code.ts'
import { NewTenantBody, toNewTenant } from '../../requests/tenant-fields.ts'
import type { Tenants } from '../../tenants/tenants.ts'
import { linesField, selectField, textField, type Attempt } from '../../pages/blocks/field.ts'
import { deviceAddress } from '../access/device-routes.ts'
import { formCard } from '../blocks/form.ts'
import { tenantPath } from '../navigation.ts'
import { action, done, page, type ConsoleRoute, type View, type ViewerVisit } from '../route.ts'
import { MODE_LABELS } from './settings/settings-form.ts'

const DRAFT = 'Starts as a draft. Nothing changes for anyone until you publish it.'
const PUBLISHED =
  'Published right away, so that setup can go on. Everyone gets in until you go live.'

const PATH = '/console/tenants/new'

/** A command line tool that waits for the tenant: afterwards it goes on there. */
const deviceCode = v.optional(v.pipe(v.string(), v.maxLength(40, 'a code like BCDF-GHJK')))
const FormBody = v.strictObject({ ...NewTenantBody.entries, device_code: deviceCode })

function show(visit: ViewerVisit, attempt?: Attempt, waiting = ''): View {
  const userCode = readUserCode(attempt?.values.get('device_code') ?? waiting)
  return {
    title: 'New tenant',
    intro: userCode === undefined ? DRAFT : PUBLISHED,
    here: 'tenants',
    content: formCard(visit, {
      action: PATH,
      submit: 'Create tenant',
      cancel: userCode === undefined ? '/console/tenants' : `${DEVICE_PATH}?code=${userCode}`,
      hidden: userCode === undefined ? {} : { device_code: userCode },
      attempt,
      content: html`
          ${textField({ name: 'tenant_id', label: 'ID', hint: 'Lowercase letters, digits and dashes. Used in URLs; can’t be changed.', placeholder: 'acme', attempt })}
          ${textField({ name: 'name', label: 'Name', hint: 'Shown on the sign-in page.', isOptional: true, attempt })}
          ${selectField({ name: 'mode', label: 'Enforcement mode', options: MODES.map((value) => ({ value, label: MODE_LABELS[value] })), value: 'gateway', attempt })}
          ${selectField({ name: 'plan', label: 'Plan', options: PLANS.map((value) => ({ value, label: value })), value: 'standard', attempt })}
          ${linesField({ name: 'hostnames', label: 'Hostnames', hint: 'Your application’s public hostnames, one per line. At least one, except in SDK mode.', isOptional: true, attempt })}
          ${textField({ name: 'origin', label: 'Origin', type: 'url', hint: 'Where the application runs, like http://10.0.0.5:3000 (no path). In connector mode it only names the application.', attempt })}
          ${linesField({ name: 'sealed', label: 'Sealed paths', hint: 'Return 404 to everyone. One per line.', isOptional: true, attempt })}
          ${linesField({ name: 'excluded', label: 'Public paths', hint: 'Served without sign-in. One per line.', isOptional: true, attempt })}
          ${textField({ name: 'health', label: 'Health path', value: '/health', hint: 'Where the application reports healthy and answers probes.', attempt })}
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

export function newTenantRoutes({
  tenants,
}: {
  readonly tenants: Pick<Tenants, 'create' | 'publish'>
}) {
  return [
    page(
      { path: PATH, role: 'operator', isForForm: true, query: { device_code: deviceCode } },
      (visit) => show(visit, undefined, visit.query.device_code),
    ),
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
          device_code: 'optional',
        },
        body: FormBody,
        isOnce: true,
      },
      async (visit, { device_code: waiting = '', ...body }) => {
        const { tenant } = await tenants.create(toNewTenant(body), visit.actor)
        const { tenantId, name } = tenant
        const userCode = readUserCode(waiting)
        if (userCode === undefined)
          return done(tenantPath(tenantId), `${name} created as a draft.`, { changed: tenantId })
        await tenants.publish(tenantId, visit.actor)
        const said = `${name} created and published.`
        return done(deviceAddress(userCode, tenantId), said, { changed: tenantId })
      },
      (visit, attempt) => show(visit, attempt),
    ),
  ] as const satisfies readonly ConsoleRoute[]
}
