/** What is shown of a command-line tool that waits: its code, what it says of itself, two answers. */
import { html } from 'hono/html'
import type { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { isLoopback } from '../../../shared/networks.ts'
import { DEVICE_PATH, type DeviceRequest } from '../../console-access/device-codes.ts'
import {
  checkField,
  selectField,
  textField,
  type Attempt,
  type Option,
} from '../../pages/blocks/field.ts'
import { hiddenFields, linkButton } from '../../pages/blocks/form.ts'
import { notice } from '../../pages/blocks/notice.ts'
import type { Html } from '../../pages/html.ts'
import { form } from '../blocks/form.ts'
import { age, card, facts, moment } from '../blocks/text.ts'
import type { View, ViewerVisit } from '../route.ts'
import type { OfferedTenants } from './device-tenants.ts'

export function enterCodeView(code: string, refusal?: Refusal): View {
  const attempt = refusal && {
    values: new Map([['code', code]]),
    choices: new Map(),
    problems: new Map([['code', refusal.detail]]),
  }
  const heading = 'Sign in a command-line tool'
  return {
    title: refusal === undefined ? heading : `Error: ${heading}`,
    heading,
    intro: 'Enter the code that service-analyzer shows in your terminal.',
    ...(refusal && { status: refusal.status === 429 ? (429 as const) : (422 as const) }),
    content: html`<div class="card narrow">
      <form method="get" action="${DEVICE_PATH}">
        ${textField({
          name: 'code',
          label: 'Code',
          hint: 'Eight letters, like BCDF-GHJK.',
          charactersMax: 40,
          hasFocus: true,
          attempt,
        })}
        <div class="submit"><button type="submit" class="button">Continue</button></div>
      </form>
    </div>`,
  }
}

interface RequestShown {
  readonly request: DeviceRequest
  readonly offered: OfferedTenants
  /** What was searched for. */
  readonly text: string
  readonly chosen: string
  /** Where the page is looked at from; undefined where nobody can tell. */
  readonly ownAddress: string | undefined
  readonly attempt: Attempt | undefined
}

export function requestView(visit: ViewerVisit, shown: RequestShown): View {
  const { request, offered, text, ownAddress } = shown
  const { userCode, machine, application, address, requestedAtMs, expiresAtMs } = request
  const isSearched = offered.hasMore || text !== ''
  return {
    title: 'Allow service-analyzer?',
    intro: 'A command-line tool is asking for the analyzer key of one of your tenants.',
    content: html`<div class="narrow">
      ${card(
        'Check that this is the code in your terminal',
        html`<p class="device-code">${userCode}</p>
          ${notice(
            'info',
            html`<b>Did someone send you this link? Deny it.</b> Whoever started the request gets the
              key, and can turn protection on and off with it. Allow it only if you just ran
              <code>service-analyzer</code> yourself.`,
          )}
          ${facts([
            ['Machine', said(machine)],
            ['Application', said(application)],
            ['Requested from', from(address, ownAddress)],
            ['Requested', html`${age(requestedAtMs, visit.nowMs)}; expires ${moment(expiresAtMs)}`],
          ])}
          <p class="hint">Machine and application are named by the tool itself.</p>`,
      )}
      ${card(
        'Tenant',
        html`${isSearched ? searchForm(request, text) : ''}
        ${offered.tenants.length === 0 ? nothingToOffer(visit, shown) : allowForm(visit, shown)}
        ${newTenantLink(visit, userCode)}
        ${form(visit, { action: `${DEVICE_PATH}/deny`, submit: 'Deny', look: 'quiet', hidden: { code: userCode } })}`,
      )}
    </div>`,
  }
}

const said = (name: string): string | Html =>
  name === '' ? html`<span class="none">not given</span>` : name

/** A browser and a tool often reach a service in two ways, so this is told and judged by nobody. */
function from(address: string, own: string | undefined): Html {
  if (own === undefined) return html`${address}`
  const isSame = address === own || (isLoopback(address) && isLoopback(own))
  return isSame
    ? html`${address} (the same computer or network as this browser)`
    : html`${address} (this browser: ${own})`
}

function searchForm({ userCode }: DeviceRequest, text: string): Html {
  return html`<form method="get" action="${DEVICE_PATH}" class="filters" role="search">
    ${hiddenFields({ code: userCode })}
    ${textField({ name: 'q', label: 'Find a tenant', type: 'search', value: text, isFree: true, charactersMax: LIMITS.consoleSearchCharactersMax })}
    <div class="submit"><button type="submit" class="button quiet">Search</button></div>
  </form>`
}

function allowForm(visit: ViewerVisit, { request, offered, chosen, attempt }: RequestShown): Html {
  const { tenants } = offered
  const options: Option[] = tenants.map(({ tenantId, name }) => ({
    value: tenantId,
    label: name === tenantId ? name : `${name} (${tenantId})`,
  }))
  const [only] = options.length === 1 && !offered.hasMore ? options : []
  const toChoose = only === undefined ? [{ value: '', label: 'Choose a tenant' }] : []
  return form(visit, {
    action: `${DEVICE_PATH}/allow`,
    submit: 'Allow',
    hidden: { code: request.userCode },
    attempt,
    content: html`${selectField({
      name: 'tenant_id',
      label: 'Whose analyzer key it gets',
      options: [...toChoose, ...options],
      value: only?.value ?? chosen,
      attempt,
    })}
    ${
      tenants.some(({ mode }) => mode === 'sdk')
        ? checkField({
            name: 'secret_as_well',
            label: 'Hand out the client secret as well',
            hint: 'In SDK mode the application needs it. In other modes it is never handed out.',
            attempt,
          })
        : ''
    }`,
  })
}

function nothingToOffer({ viewer }: ViewerVisit, { text }: RequestShown): Html {
  const { isOperator, tenantIds, changes } = viewer
  if (text !== '') return html`<p>No tenant matches “${text}”. Broaden your search.</p>`
  if (changes === 'everything') return html`<p>There are no tenants yet. Create the first one.</p>`
  if (isOperator || tenantIds.length > 0)
    return html`<p>
      Your role is read-only, so you can’t hand out a key. Ask an administrator of the tenant to
      allow this request, or an operator for another role.
    </p>`
  return html`<p>
    You don’t administer a tenant yet. Ask an operator of this service to make you an administrator
    of one, then run <code>service-analyzer setup</code> again.
  </p>`
}

/** It leads back here. */
function newTenantLink({ viewer }: ViewerVisit, userCode: string): Html | string {
  if (viewer.changes !== 'everything') return ''
  const href = `/console/tenants/new?device_code=${userCode}`
  return html`<p><a href="${href}">New tenant</a> for an application that has none yet.</p>`
}

export function allowedView(
  tenant: { readonly name: string; readonly href: string } | undefined,
): View {
  return {
    title: 'Return to your terminal',
    content: html`<div class="card narrow">
      <p>
        <code>service-analyzer</code> continues there within a few seconds. You can close this page.
      </p>
      <p class="hint">
        The key is handed out once, and the audit trail says to which machine. If that was a mistake,
        replace the analyzer key on the Integration page.
      </p>
      ${tenant === undefined ? '' : html`<div class="submit">${linkButton(tenant.href, `Go to ${tenant.name}`, 'quiet')}</div>`}
    </div>`,
  }
}

export function deniedView(): View {
  return {
    title: 'Request denied',
    content: html`<div class="card narrow">
      <p>service-analyzer gets no key, and stops.</p>
      <p class="hint">
        If someone sent you the link, tell an operator of this service. If you denied it by mistake, run
        <code>service-analyzer setup</code> again.
      </p>
    </div>`,
  }
}
