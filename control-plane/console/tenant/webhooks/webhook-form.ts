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
      label: 'Endpoint URL',
      type: 'url',
      hint: 'A public https:// URL. Events are sent to it by POST.',
      placeholder: 'https://hooks.acme.example/service',
      charactersMax: LIMITS.webhookUrlCharactersMax,
      value: webhook?.url,
      attempt,
    })}
    ${choicesField({
      name: 'events',
      label: 'Subscribed events',
      hint: html`<a href="/api/v1/events">Event reference</a>`,
      options: EVENT_OPTIONS,
      chosen: webhook?.events ?? [],
      attempt,
    })}
    ${textField({
      name: 'description',
      label: 'Description',
      hint: 'Shown in the console only.',
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
    ? html`<p><a href="${tenantPath(tenantId, 'settings')}#tenant-plan">Upgrade to the premium plan</a></p>`
    : html`<p>Ask an operator of this service to upgrade your plan.</p>`
  return notice(
    'info',
    `Webhooks require the premium plan. ${tenant.name} is on the ${plan} plan.`,
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
    title: 'Signing secret',
    here: 'webhooks',
    content: html`<div class="card narrow">
      ${notice('success', said)}
      <p>
        Copy it now: it won’t be shown again. Store it with your receiver’s secrets; every delivery
        is signed with it. <a href="/api/v1/events">How to verify the signature</a>
      </p>
      ${copyable(secret, 'Signing secret')}
      <div class="submit">${linkButton(webhookAt(tenantId, webhookId), 'I have saved it')}</div>
    </div>`,
  }
}
