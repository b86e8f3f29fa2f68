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
  'Someone changed these settings after you opened the page. Review the differences, then save again.'

type OfTenant = ViewerVisit & { readonly path: { readonly tenant_id: string } }

export function settingsRoutes({ tenants }: ConsoleWorld) {
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
        intro: 'Only operators can see this page.',
        content: html`
          ${freshSignInNotice(visit)}
          ${card('Details', settingsForm(visit, tenant, at, attemptOf('settings')), 'settings')}
          ${card('Plan', planForm(visit, tenant, `${at}/plan`, attemptOf('plan')), 'tenant-plan')}
          ${card('License', licenceForm(visit, tenant, `${at}/licence`, attemptOf('licence')), 'licence')}
          ${card('Status', state(visit, tenant), 'tenant-state')}
        `,
        calls: [
          { method: 'PATCH', path: api, body: { name: tenant.name }, label: 'Settings' },
          { method: 'PUT', path: `${api}/plan`, body: { plan: tenant.plan }, label: 'Plan' },
          {
            method: 'PUT',
            path: `${api}/licence`,
            body: { state: tenant.licence, blocks_signin: tenant.licenceBlocksSignin },
            label: 'License',
          },
          { method: 'POST', path: `${api}/suspend`, label: 'Suspend' },
          { method: 'DELETE', path: api, label: 'Delete' },
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
        return done(settingsAt(tenantId), 'Settings saved.', { changed: tenantId })
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
        return done(settingsAt(tenantId), `Plan changed to ${plan}.`, { changed: tenantId })
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
        return done(settingsAt(tenantId), `License saved: ${licence}.`, { changed: tenantId })
      },
      show('licence'),
    ),
  ] as const satisfies readonly ConsoleRoute[]
}

const SAID: Readonly<Record<Tenant['status'], string>> = {
  draft: 'Draft: not served by gateways, and nobody can sign in.',
  published: 'Published: served by the gateways.',
  suspended: 'Suspended: every request returns 503, and nobody can sign in.',
}

function state(visit: OfTenant, { tenantId, status }: Tenant) {
  const at = settingsAt(tenantId)
  return html`<p>${SAID[status]}</p>
    ${
      status === 'draft'
        ? form(visit, { action: `${tenantPath(tenantId)}/publish`, submit: 'Publish tenant' })
        : ''
    }
    ${status === 'suspended' ? form(visit, { action: `${at}/activate`, submit: 'Reactivate tenant' }) : ''}
    <div class="submit">
      ${status === 'published' ? linkButton(`${at}/suspend`, 'Suspend', 'quiet') : ''}
      <a class="button danger" href="${at}/delete">Delete tenant</a>
    </div>`
}
