/** What a webhook is made of, in a form: the same for a new one and for one that is changed. */
import { html } from 'hono/html'
import { EVENT_NAMES, EVENTS, type EventName } from '../../../../shared/events.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { Tenant } from '../../../tenants/tenants.ts'
import type { Webhook } from '../../../webhooks/webhooks.ts'
import { choicesField, textField, type Attempt } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { copyable } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import type { TenantVisit, View } from '../../route.ts'
import { tenantPath } from '../../navigation.ts'
import { webhookAt } from './addresses.ts'

export const WEBHOOK_FORM = { url: 'text', events: 'choices', description: 'text' } as const

const EVENT_OPTIONS = EVENT_NAMES.map((value) => ({
  value,
  label: value,
  hint: EVENTS[value].sentWhen,
}))

type Wish = Pick<Webhook, 'url' | 'description'> & { readonly events: readonly EventName[] }

export function webhookFields(attempt: Attempt | undefined, webhook?: Wish): Html {
  return html`
    ${textField({
      name: 'url',
      label: 'Address',
      type: 'url',
      hint: 'Begins with https:// and can be reached publicly. Events are sent there by POST.',
      placeholder: 'https://hooks.acme.example/service',
      charactersMax: LIMITS.webhookUrlCharactersMax,
      value: webhook?.url,
      attempt,
    })}
    ${choicesField({
      name: 'events',
      label: 'Events',
      hint: html`What it is told of. <a href="/api/v1/events">What each one says</a>`,
      options: EVENT_OPTIONS,
      chosen: webhook?.events ?? [],
      attempt,
    })}
    ${textField({
      name: 'description',
      label: 'Description',
      hint: 'For the people who find it here.',
      charactersMax: LIMITS.webhookDescriptionCharactersMax,
      isOptional: true,
      value: webhook?.description,
      attempt,
    })}
  `
}

export const hasWebhooks = ({ plan }: Pick<Tenant, 'plan'>): boolean => plan === 'premium'

/** Whoever can set the plan is led there; everybody else is told whom to ask. */
export function planNotice({ tenant, viewer }: TenantVisit): Html {
  const { tenantId, plan } = tenant
  const wish = viewer.isOperator
    ? html`<p><a href="${tenantPath(tenantId, 'settings')}#tenant-plan">Set the plan to premium</a></p>`
    : html`<p>Ask whoever runs this service for the plan premium.</p>`
  return notice(
    'info',
    `Webhooks come with the plan premium; ${tenant.name} has the plan ${plan}.`,
    wish,
  )
}

/** A secret is seen once, on the answer to the form that made it. */
export function secretView(
  { tenant: { tenantId } }: TenantVisit,
  webhookId: string,
  secret: string,
  said: string | Html,
): View {
  return {
    title: 'The signing secret',
    here: 'webhooks',
    content: html`<div class="card narrow">
      ${notice('success', said)}
      <p>
        It is shown now and never again: put it where the receiver keeps its secrets. Every delivery
        is signed with it. <a href="/api/v1/events">How to check the signature</a>
      </p>
      ${copyable(secret, 'The signing secret')}
      <div class="submit">${linkButton(webhookAt(tenantId, webhookId), 'I have kept it')}</div>
    </div>`,
  }
}
