/** Settings of a tenant, for operators: what it is, its plan, its licence and what state it is in. */
import { html } from 'hono/html'
import { Refusal } from '../../../../shared/errors.ts'
import { fromOutside } from '../../../requests/field-names.ts'
import { LicenceBody, PlanBody, toLicence } from '../../../requests/tenant-fields.ts'
import type { Tenant } from '../../../tenants/tenants.ts'
import { freshSignInNotice } from '../../access/fresh-sign-in.ts'
import { form } from '../../blocks/form.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { card } from '../../blocks/text.ts'
import { administratorsPath, TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type View, type ViewerVisit } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { LICENCE_FORM, licenceForm, planForm } from './licence-form.ts'
import { seenOf, SETTINGS_FORM, SettingsBody, settingsForm } from './settings-form.ts'
import type { Attempt } from '../../../pages/blocks/field.ts'

export const SETTINGS = `${TENANT_PATH}/settings` as const

export const settingsAt = (tenantId: string): string => tenantPath(tenantId, 'settings')

const MEANWHILE =
  'Somebody has changed this since you opened the page. Look at what differs, then save again.'

type OfTenant = ViewerVisit & { readonly path: { readonly tenant_id: string } }

export function settingsRoutes({ tenants }: Pick<ConsoleWorld, 'tenants'>) {
  /** Of several forms the one that was sent shows what was typed. */
  const show =
    (sent?: 'settings' | 'plan' | 'licence') =>
    async (visit: OfTenant, attempt?: Attempt): Promise<View> => {
      const tenant = await tenants.get(visit.path.tenant_id)
      const { tenantId } = tenant
      const at = settingsAt(tenantId)
      const attemptOf = (which: typeof sent) => (sent === which ? attempt : undefined)
      const api = `/api/v1/operator/tenants/${tenantId}`
      return {
        title: 'Settings',
        here: 'settings',
        tenant,
        buttons: [linkButton(administratorsPath(tenantId), 'Administrators', 'quiet')],
        intro: 'What it is and where it stands. Its administrators do not see this page.',
        content: html`
          ${freshSignInNotice(visit)}
          ${card('What it is', settingsForm(visit, tenant, at, attemptOf('settings')), 'settings')}
          ${card('Plan', planForm(visit, tenant, `${at}/plan`, attemptOf('plan')), 'tenant-plan')}
          ${card('Licence', licenceForm(visit, tenant, `${at}/licence`, attemptOf('licence')), 'licence')}
          ${card('State', state(visit, tenant), 'tenant-state')}
        `,
        calls: [
          { method: 'PATCH', path: api, body: { name: tenant.name }, label: 'Settings' },
          { method: 'PUT', path: `${api}/plan`, body: { plan: tenant.plan }, label: 'Plan' },
          {
            method: 'PUT',
            path: `${api}/licence`,
            body: { state: tenant.licence, blocks_signin: tenant.licenceBlocksSignin },
            label: 'Licence',
          },
          { method: 'POST', path: `${api}/suspend`, label: 'Suspend it' },
          { method: 'DELETE', path: api, label: 'Delete it' },
        ],
      }
    }

  return [
    page({ path: SETTINGS, role: 'operator' }, (visit) => show()(visit)),
    action(
      {
        path: SETTINGS,
        role: 'operator',
        form: SETTINGS_FORM,
        body: SettingsBody,
        needsFreshSignIn: true,
      },
      async (visit, { seen, ...settings }) => {
        const { tenant_id: tenantId } = visit.path
        if (seenOf(await tenants.get(tenantId)) !== seen)
          throw new Refusal('changed_meanwhile', {}, MEANWHILE)
        await tenants.patch(tenantId, fromOutside(settings), visit.actor)
        return done(settingsAt(tenantId), 'The settings are saved.', { changed: tenantId })
      },
      show('settings'),
    ),
    action(
      {
        path: `${SETTINGS}/plan`,
        role: 'operator',
        form: { plan: 'text' },
        body: PlanBody,
        needsFreshSignIn: true,
      },
      async ({ path: { tenant_id: tenantId }, actor }, { plan }) => {
        await tenants.setPlan(tenantId, plan, actor)
        return done(settingsAt(tenantId), `The plan is ${plan}.`, { changed: tenantId })
      },
      show('plan'),
    ),
    action(
      {
        path: `${SETTINGS}/licence`,
        role: 'operator',
        form: LICENCE_FORM,
        body: LicenceBody,
        needsFreshSignIn: true,
      },
      async ({ path: { tenant_id: tenantId }, actor }, body) => {
        const { licence } = await tenants.setLicence(tenantId, toLicence(body), actor)
        return done(settingsAt(tenantId), `The licence is ${licence}.`, { changed: tenantId })
      },
      show('licence'),
    ),
  ] as const satisfies readonly ConsoleRoute[]
}

const SAID: Readonly<Record<Tenant['status'], string>> = {
  draft: 'A draft: no gateway knows it, and nobody can sign in.',
  published: 'Published: the gateways serve it.',
  suspended: 'Suspended: every request is answered with 503, and nobody can sign in.',
}

function state(visit: OfTenant, { tenantId, status }: Tenant) {
  const at = settingsAt(tenantId)
  return html`<p>${SAID[status]}</p>
    ${
      status === 'draft'
        ? form(visit, { action: `${tenantPath(tenantId)}/publish`, submit: 'Publish it' })
        : ''
    }
    ${status === 'suspended' ? form(visit, { action: `${at}/activate`, submit: 'Activate it' }) : ''}
    <div class="submit">
      ${status === 'published' ? linkButton(`${at}/suspend`, 'Suspend', 'quiet') : ''}
      <a class="button danger" href="${at}/delete">Delete this tenant</a>
    </div>`
}
