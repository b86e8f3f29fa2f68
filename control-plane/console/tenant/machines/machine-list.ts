/** One card for each machine: what it may show, what its secrets are worth, and what can be done. */
import { html } from 'hono/html'
import { DAY_MS } from '../../../../shared/clock.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { Machine } from '../../../machines/machines.ts'
import { selectField, type Attempt } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import type { Html } from '../../../pages/html.ts'
import { form } from '../../blocks/form.ts'
import { table } from '../../blocks/table.ts'
import { age, badge, card, moment, type Tone } from '../../blocks/text.ts'
import { DAY_SECONDS, durationText } from '../../durations.ts'
import type { TenantVisit } from '../../route.ts'

type Secret = Machine['secrets'][number]

const EXPIRIES = [7, 30, 90, 365].map((days) => days * DAY_SECONDS)
/** From then on its end is worth a word. */
const SOON_MS = 14 * DAY_MS

export function machineCard(visit: TenantVisit, machine: Machine, path: string): Html {
  const { serviceId, name, isDisabled } = machine
  const { nowMs, proofs } = visit
  const [state, tone] = stateOf(machine, nowMs)
  return card(
    name,
    html`<p>${badge(state, tone)} <code>${serviceId}</code></p>
      ${machine.seenAt === null ? '' : html`<p class="hint">Last seen ${age(machine.seenAt, nowMs)}${machine.seenIp === null ? '' : html` from ${machine.seenIp}`}, ${requestsText(machine.requests)} in the last 24 hours.</p>`}
      ${machine.isNamed ? '' : html`<p class="hint">No access rule names it, so it can’t open anything yet. Add a clause like <code>{"service": "${serviceId}"}</code>.</p>`}
      ${
        proofs.isReadOnly
          ? ''
          : html`<div class="buttons">
              ${
                isDisabled
                  ? form(visit, {
                      action: `${path}/enable`,
                      submit: 'Enable',
                      about: name,
                      look: 'small',
                    })
                  : linkButton(`${path}/disable`, 'Disable', 'small')
              }
              ${linkButton(`${path}/delete`, 'Delete', 'small')}
            </div>`
      }
      ${secretTable(machine, nowMs, proofs.isReadOnly ? undefined : path)}
      ${proofs.isReadOnly ? '' : newSecret(visit, machine, path)}`,
    serviceId,
  )
}

const requestsText = (count: number) =>
  count === 1 ? '1 request' : `${count.toLocaleString('en')} requests`

const isLiving = ({ endsAt }: Secret, nowMs: number) => endsAt > nowMs

function stateOf({ isDisabled, secrets }: Machine, nowMs: number): [string, Tone] {
  if (isDisabled) return ['Disabled', 'plain']
  const living = secrets.filter((secret) => isLiving(secret, nowMs))
  if (living.length === 0) return [secrets.length === 0 ? 'No secret yet' : 'Secret expired', 'bad']
  const lastMs = Math.max(...living.map(({ endsAt }) => endsAt))
  return lastMs - nowMs < SOON_MS ? ['Secret expires soon', 'warm'] : ['Enabled', 'good']
}

function secretTable({ name, secrets }: Machine, nowMs: number, path: string | undefined): Html {
  return table({
    caption: `Secrets of ${name}`,
    rows: secrets,
    columns: [
      {
        label: 'Secret',
        isName: true,
        cell: ({ secretId, keyAlg }) =>
          html`<code>${secretId}</code>${keyAlg === null ? '' : html` <span class="hint">key, ${keyAlg}</span>`}`,
      },
      { label: 'Created', cell: ({ createdAt }) => moment(createdAt) },
      {
        label: 'Last used',
        cell: ({ usedAt }) => (usedAt === null ? 'never' : age(usedAt, nowMs)),
      },
      {
        label: 'Expires',
        cell: (secret) =>
          html`${moment(secret.endsAt)} ${isLiving(secret, nowMs) ? '' : badge('Expired', 'bad')}`,
      },
      ...(path === undefined
        ? []
        : [
            {
              label: 'Actions',
              isUnseen: true,
              cell: ({ secretId }: Secret) =>
                html`<a class="button small" href="${path}/secrets/${secretId}/revoke">Revoke<span class="unseen"> ${secretId}</span></a>`,
            },
          ]),
    ],
    empty: html`<p class="hint">No secrets yet. Create one to let the machine in.</p>`,
  })
}

function newSecret(visit: TenantVisit, { name, secrets }: Machine, path: string): Html {
  const living = secrets.filter((secret) => isLiving(secret, visit.nowMs))
  if (living.length >= LIMITS.serviceSecretsMax)
    return html`<p class="hint">
      Both work. Once the machine uses the new one, revoke the old one.
    </p>`
  return html`${form(visit, {
    action: `${path}/secrets`,
    submit: 'Create secret',
    about: name,
    content: expiryField(undefined),
  })}
  <p class="hint">Or <a href="${path}/keys">add a public key</a>: the machine signs with the private one, and nobody else ever has it.</p>`
}

export const expiryField = (attempt: Attempt | undefined): Html =>
  selectField({
    name: 'expires_in',
    label: 'Expires after',
    options: EXPIRIES.map((seconds) => ({ value: String(seconds), label: durationText(seconds) })),
    value: String(LIMITS.serviceSecretSecondsDefault),
    attempt,
  })
