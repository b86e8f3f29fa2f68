/** The plan of a tenant, and its licence with the dates at which it goes on by itself. */
import { html } from 'hono/html'
import { DAY_MS, MINUTE_MS } from '../../../../shared/clock.ts'
import { LICENCES, PLANS } from '../../../../shared/fleet/snapshot.ts'
import type { Tenant } from '../../../tenants/tenants.ts'
import { checkField, selectField, textField, type Attempt } from '../../../pages/blocks/field.ts'
import { form } from '../../blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import type { Html } from '../../../pages/html.ts'
import type { ViewerVisit } from '../../route.ts'

export const LICENCE_FORM = {
  state: 'text',
  blocks_signin: 'flag',
  grace_from: 'moment',
  expires_at: 'moment',
  blocks_signin_when_expired: 'flag',
} as const

const PLAN_LABELS = {
  free: 'Free',
  standard: 'Standard',
  premium: 'Premium, with webhooks',
} as const satisfies Record<Tenant['plan'], string>

const LICENCE_LABELS = {
  active: 'Active',
  grace: 'Grace period',
  expired: 'Expired',
} as const satisfies Record<Tenant['licence'], string>

type Visit = Pick<ViewerVisit, 'proofs'>

export function planForm(
  visit: Visit,
  { plan }: Tenant,
  action: string,
  attempt: Attempt | undefined,
): Html {
  return form(visit, {
    action,
    submit: 'Save plan',
    look: 'quiet',
    attempt,
    content: selectField({
      name: 'plan',
      label: 'Plan',
      hint: 'Below premium, webhooks stop, including queued deliveries.',
      options: PLANS.map((value) => ({ value, label: PLAN_LABELS[value] })),
      value: plan,
      attempt,
    }),
  })
}

const DATE_HINT = 'For example 2027-01-31, or 2027-01-31 14:00, in UTC. Leave empty for never.'

/** As short as it can be typed; to the second where somebody has set it so by API. */
function typedDate(atMs: number | null): string {
  if (atMs === null) return ''
  const iso = new Date(atMs).toISOString()
  if (atMs % MINUTE_MS !== 0) return iso
  return atMs % DAY_MS === 0 ? iso.slice(0, 10) : iso.slice(0, 16).replace('T', ' ')
}

export function licenceForm(
  visit: Visit,
  tenant: Tenant,
  action: string,
  attempt: Attempt | undefined,
): Html {
  return html`${
    tenant.licenceBlocksSignin
      ? notice(
          'info',
          'New sign-ins are refused because of the license. Existing sessions continue.',
        )
      : ''
  }
  ${form(visit, {
    action,
    submit: 'Save license',
    look: 'quiet',
    attempt,
    content: html`
      ${selectField({
        name: 'state',
        label: 'License',
        options: LICENCES.map((value) => ({ value, label: LICENCE_LABELS[value] })),
        value: tenant.licence,
        attempt,
      })}
      ${checkField({
        name: 'blocks_signin',
        label: 'Refuse new sign-ins now',
        hint: 'Existing sessions continue until they end.',
        isOn: tenant.licenceBlocksSignin,
        attempt,
      })}
      ${textField({
        name: 'grace_from',
        label: 'Grace period starts',
        hint: DATE_HINT,
        value: typedDate(tenant.licenceGraceFrom),
        isOptional: true,
        attempt,
      })}
      ${textField({
        name: 'expires_at',
        label: 'Expires',
        hint: DATE_HINT,
        value: typedDate(tenant.licenceExpiresAt),
        isOptional: true,
        attempt,
      })}
      ${checkField({
        name: 'blocks_signin_when_expired',
        label: 'Refuse new sign-ins after it expires',
        isOn: tenant.licenceExpiryBlocks,
        attempt,
      })}
    `,
  })}`
}
