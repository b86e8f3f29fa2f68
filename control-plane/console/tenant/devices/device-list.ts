/** The list of devices: what is looked for, what each reports, and what may be done with several. */
import { html } from 'hono/html'
import type { Compliance } from '../../../policy/compliance.ts'
import type { ListedDevice } from '../../../devices/management.ts'
import type { QueryValues } from '../../../http/query.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { DEVICE_PLATFORMS } from '../../../../shared/device/facts.ts'
import { selectField, textField } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import type { Html } from '../../../pages/html.ts'
import { PAGE_QUERY } from '../../../requests/paging.ts'
import { form } from '../../blocks/form.ts'
import { emptyState, selectAll, table, type Column } from '../../blocks/table.ts'
import { age, badge } from '../../blocks/text.ts'
import { chosen, searched } from '../../filters.ts'
import { userPath } from '../people/paths.ts'
import type { TenantVisit } from '../../route.ts'
import { devicePath, devicesPath, enrollPath } from './paths.ts'
import { factTitle, PLATFORMS, shortcomings, stateBadge, STATES, systemText } from './words.ts'

const FILTER_STATES = ['approved', 'pending', 'suspect_clone', 'revoked'] as const

export const DEVICE_FILTERS = {
  q: searched,
  state: chosen(FILTER_STATES),
  platform: chosen(DEVICE_PLATFORMS),
  duplicates: chosen(['yes']),
  user_id: searched,
} as const

export const DEVICE_LIST_QUERY = { ...PAGE_QUERY, ...DEVICE_FILTERS } as const

type DeviceFilters = QueryValues<typeof DEVICE_FILTERS>

export const filterOf = ({ q, state, platform, duplicates, user_id: userId }: DeviceFilters) => ({
  text: q === '' ? undefined : q,
  state,
  platform,
  isDuplicate: duplicates === 'yes',
  userId: userId === '' ? undefined : userId,
})

interface ListView {
  /** By id: what the person is called. */
  readonly names: ReadonlyMap<string, string>
  /** By device: what the policy says; undefined where it asks for no device. */
  readonly judged: ReadonlyMap<string, Compliance> | undefined
  readonly isFiltered: boolean
}

export function deviceTable(
  visit: TenantVisit,
  rows: readonly ListedDevice[],
  { names, judged, isFiltered }: ListView,
): Html {
  const { tenant, proofs, nowMs } = visit
  const { tenantId } = tenant
  const select: Column<ListedDevice> = {
    label: 'Select',
    isUnseen: true,
    cell: ({ deviceId, hostname }) =>
      html`<input type="checkbox" name="device_id" value="${deviceId}" aria-label="Select ${hostname}, ${deviceId}" />`,
  }
  const policy: Column<ListedDevice> = {
    label: 'Policy',
    cell: ({ deviceId }) => policyCell(judged?.get(deviceId)),
  }
  return table({
    caption: 'Devices',
    rows,
    columns: [
      ...(proofs.isReadOnly ? [] : [select]),
      {
        label: 'Device',
        isName: true,
        cell: (device) =>
          html`<a href="${devicePath(tenantId, device.deviceId)}">${device.hostname}</a>
            <div class="hint">${systemText(device)}</div>
            <div class="hint whole">${device.deviceId}</div>
            ${sameMachineHint(device)}`,
      },
      { label: 'State', cell: stateBadge },
      ...(judged === undefined ? [] : [policy]),
      { label: 'Owner', cell: ({ userId }) => ownerCell(tenantId, userId, names) },
      { label: 'Reports', cell: (device) => factsCell(device, nowMs) },
      { label: 'Last contact', cell: ({ seenAt }) => age(seenAt, nowMs) },
    ],
    empty: isFiltered ? nothingFound(tenantId) : nothingYet(tenantId, proofs.isReadOnly),
  })
}

const sameMachineHint = ({ sameMachine }: ListedDevice): Html | '' =>
  sameMachine.length === 0
    ? ''
    : html`<span class="hint">Same hardware enrolled ${timesText(sameMachine.length + 1)}</span>`

const timesText = (times: number): string =>
  times < LIMITS.devicesOnMachineMax
    ? `${times} times`
    : `${LIMITS.devicesOnMachineMax} times or more`

export function policyCell(found: Compliance | undefined): Html {
  if (found === undefined) return badge('Not judged')
  if (found.complies) return badge('Complies', 'good')
  return found.graceUntil === undefined
    ? badge('Doesn’t comply', 'bad')
    : badge('Grace period', 'warm')
}

export function ownerCell(
  tenantId: string,
  userId: string | null,
  names: ReadonlyMap<string, string>,
): Html | string {
  if (userId === null) return 'Nobody yet'
  return html`<a href="${userPath(tenantId, userId)}">${names.get(userId) ?? userId}</a>`
}

/** What is not as one wishes, and since when; the rest is on the page of the device. */
function factsCell(device: ListedDevice, nowMs: number): Html | string {
  const { posture, factsSince } = device
  if (posture === null) return 'Nothing yet'
  const wrong = shortcomings(device)
  if (wrong.length === 0) return badge('All good', 'good')
  return html`<div class="found-out">
    ${wrong.map((fact) => {
      const isKnown = posture.facts[fact].value === false
      const since = factsSince[fact]
      return html`<p class="hint">
        ${isKnown ? 'No' : 'Unknown'}: ${factTitle(fact)}${since === undefined ? '' : html`, ${age(since, nowMs)}`}
      </p>`
    })}
  </div>`
}

/** A page of devices whose boxes can be ticked; revoking them is asked behind it. */
export function selectable(visit: TenantVisit, devices: Html, count: number): Html {
  if (count === 0 || visit.proofs.isReadOnly) return devices
  return form(visit, {
    action: `${devicesPath(visit.tenant.tenantId)}/selected`,
    submit: 'Revoke selected',
    look: 'quiet',
    content: html`${selectAll('device_id')} ${devices}`,
  })
}

const ANY = { value: '', label: 'Any' }

export function filterForm(tenantId: string, query: DeviceFilters): Html {
  const { q, state, platform, duplicates, user_id: userId } = query
  return html`<form method="get" action="${devicesPath(tenantId)}" class="filters" role="search">
    ${textField({ name: 'q', label: 'Host name or ID', type: 'search', value: q, isFree: true, charactersMax: LIMITS.consoleSearchCharactersMax })}
    ${selectField({ name: 'state', label: 'State', value: state, isFree: true, options: [{ value: '', label: 'Not revoked' }, ...FILTER_STATES.map((value) => ({ value, label: STATES[value].label }))] })}
    ${selectField({ name: 'platform', label: 'Platform', value: platform, isFree: true, options: [ANY, ...DEVICE_PLATFORMS.map((value) => ({ value, label: PLATFORMS[value] }))] })}
    ${selectField({ name: 'duplicates', label: 'Hardware', value: duplicates, isFree: true, options: [ANY, { value: 'yes', label: 'Enrolled more than once' }] })}
    ${userId === '' ? '' : textField({ name: 'user_id', label: 'Owner ID', value: userId, isFree: true, charactersMax: LIMITS.consoleSearchCharactersMax })}
    <div class="submit"><button type="submit" class="button quiet">Search</button></div>
  </form>`
}

const nothingYet = (tenantId: string, isReadOnly: boolean) =>
  emptyState(
    'No devices yet',
    'A device appears here once our agent has enrolled it with a ticket. A device policy can then demand that people sign in on such devices only.',
    isReadOnly ? undefined : linkButton(enrollPath(tenantId), 'Enroll the first one'),
  )

const nothingFound = (tenantId: string) =>
  emptyState(
    'No matching devices',
    'Search by any part of a host name, or by a whole ID, or remove a filter.',
    linkButton(devicesPath(tenantId), 'Show all', 'quiet'),
  )
