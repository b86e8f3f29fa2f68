/** One device: what it reports, what the policy makes of that, and what can be done. Pure. */
import { html } from 'hono/html'
import { DEVICE_FACTS, type DeviceFact } from '../../../../shared/device/facts.ts'
import type { Compliance } from '../../../policy/compliance.ts'
import type { ListedDevice } from '../../../devices/management.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { sayReason } from '../../../../shared/device-words/say-reason.ts'
import type { Html } from '../../../pages/html.ts'
import { form } from '../../blocks/form.ts'
import { table } from '../../blocks/table.ts'
import { age, card, facts, moment } from '../../blocks/text.ts'
import type { TenantVisit, View } from '../../route.ts'
import { deed, nothing } from '../people/user-page.ts'
import { tenantPath } from '../../navigation.ts'
import { ownerCell, policyCell } from './device-list.ts'
import { apiOf, devicePath } from './paths.ts'
import {
  factTitle,
  honesty,
  KEY_PLACES,
  PLATFORMS,
  stateBadge,
  systemText,
  valueBadge,
} from './words.ts'

interface DeviceView {
  readonly device: ListedDevice
  readonly names: ReadonlyMap<string, string>
  /** undefined: the policy asks for no device. */
  readonly judged: Compliance | undefined
}

export function devicePage(visit: TenantVisit, view: DeviceView): View {
  const { device, judged } = view
  const { tenantId } = visit.tenant
  const api = `${apiOf(tenantId, 'devices')}/${device.deviceId}`
  return {
    title: device.hostname,
    here: 'devices',
    intro: html`${stateBadge(device)} ${judged === undefined ? '' : policyCell(judged)} ${systemText(device)}`,
    buttons: [],
    content: html`${suspicion(visit, device)} ${honesty()}
      ${card('Reported state', factTable(device, visit.nowMs), 'facts')}
      ${card('Device policy', policyFindings(visit, device, judged), 'policy')}
      ${card('Details', details(visit, view))}
      ${device.state === 'revoked' || visit.proofs.isReadOnly ? '' : card('Actions', whatCanBeDone(visit, device))}`,
    calls: [
      { method: 'GET', path: api },
      { method: 'PATCH', path: api, body: { approved: true }, label: 'Approve the device' },
      { method: 'PATCH', path: api, body: { owner: 'usr_…' }, label: 'Change the owner' },
      { method: 'POST', path: `${api}/revoke`, label: 'Revoke the device' },
      { method: 'DELETE', path: api, label: 'Delete the device' },
    ],
  }
}

const SUSPICIONS: Readonly<Record<string, string>> = {
  chain: 'Two machines check in with its key: one of them is a copy.',
  boot_returned:
    'It checked in from an earlier start of the machine: it was restored from a copy or a snapshot.',
}

function suspicion(
  visit: TenantVisit,
  { state, suspicion: why, deviceId, hostname }: ListedDevice,
) {
  if (state !== 'suspect_clone') return ''
  const known = why !== null && Object.hasOwn(SUSPICIONS, why) ? SUSPICIONS[why] : undefined
  const path = devicePath(visit.tenant.tenantId, deviceId)
  return notice(
    'problem',
    `This device may have been copied. It doesn’t count as an enrolled device until you decide. ${known ?? ''}`,
    visit.proofs.isReadOnly
      ? undefined
      : html`<p>${linkButton(`${path}/clear`, `Clear ${hostname}`, 'small')}</p>`,
  )
}

function factTable({ posture, factsSince, platform }: ListedDevice, nowMs: number): Html {
  if (posture === null)
    return nothing('It has not reported yet. The first report comes within minutes.')
  return table<DeviceFact>({
    caption: 'Reported state',
    rows: DEVICE_FACTS,
    columns: [
      { label: 'Fact', isName: true, cell: factTitle },
      { label: 'Value', cell: (fact) => valueBadge(posture.facts[fact]) },
      {
        label: 'Since',
        cell: (fact) => {
          const since = factsSince[fact]
          return since === undefined ? null : age(since, nowMs)
        },
      },
      {
        label: 'What it found',
        cell: (fact) => {
          const { reason, detail } = posture.facts[fact]
          const { said, mend } = sayReason('en', { what: fact, reason, platform })
          return html`<div class="found-out">
            <p>${said}</p>
            ${detail === undefined ? '' : html`<p class="hint">${detail}</p>`}
            ${mend === undefined ? '' : html`<p class="hint">${mend}</p>`}
          </div>`
        },
      },
    ],
    empty: nothing('Nothing.'),
  })
}

function policyFindings(
  { tenant: { tenantId }, nowMs }: TenantVisit,
  { platform }: ListedDevice,
  judged: Compliance | undefined,
): Html {
  const policies = tenantPath(tenantId, 'policies')
  if (judged === undefined)
    return html`<p>
      The device policy accepts any browser, so it has no requirements for this device.
      <a href="${policies}">Policies</a>
    </p>`
  if (judged.complies)
    return html`<p>The device meets the <a href="${policies}">device policy</a>.</p>`
  const { failing, graceUntil } = judged
  return html`<p>
      ${
        graceUntil === undefined
          ? 'The device doesn’t meet the policy:'
          : html`The device is let through until ${moment(graceUntil)}, and then has to meet the policy:`
      }
    </p>
    <ul>
      ${failing.map(({ what, reason, detail, since }) => {
        const { title, said } = sayReason('en', { what, reason, platform })
        const remarks = [
          ...(detail === undefined ? [] : [detail]),
          ...(since === undefined ? [] : [age(since, nowMs)]),
        ]
        const joined = remarks.map((remark, at) => html`${at === 0 ? '' : ' · '}${remark}`)
        return html`<li>
          ${title}: ${said}${joined.length === 0 ? '' : html` <span class="hint">${joined}</span>`}
        </li>`
      })}
    </ul>`
}

function details({ tenant: { tenantId } }: TenantVisit, { device, names }: DeviceView): Html {
  const { platform, arch, agent, keyStorage, userId, network, sameMachine, deviceId } = device
  return facts([
    ['Owner', ownerCell(tenantId, userId, names)],
    ['Platform', `${PLATFORMS[platform]}, ${arch}`],
    ['System', systemText(device)],
    ['Agent', agent],
    ['Key', KEY_PLACES[keyStorage]],
    ['Enrolled', moment(device.enrolledAt)],
    ['Enrolled from', network ?? 'any network'],
    ['Last contact', moment(device.seenAt)],
    ['Last report', moment(device.collectedAt)],
    [
      'Same hardware',
      sameMachine.length === 0 ? 'enrolled once' : duplicates(tenantId, sameMachine),
    ],
    ['ID', deviceId],
  ])
}

const duplicates = (tenantId: string, ids: readonly string[]): Html =>
  html`${ids.map((id) => html`<a href="${devicePath(tenantId, id)}">${id}</a> `)}`

function whatCanBeDone(visit: TenantVisit, { deviceId, state, hostname }: ListedDevice): Html {
  const path = devicePath(visit.tenant.tenantId, deviceId)
  return html`<ul class="steps">
    ${
      state === 'pending'
        ? deed(
            'Confirms that you know this device. The device policy can require it.',
            form(visit, { action: `${path}/approve`, submit: 'Approve device', look: 'small' }),
          )
        : ''
    }
    ${
      state === 'approved'
        ? deed(
            'It stays enrolled. Where the policy demands approval, people can’t sign in on it.',
            form(visit, {
              action: `${path}/unapprove`,
              submit: 'Withdraw approval',
              look: 'small',
            }),
          )
        : ''
    }
    ${deed('Assigns the device to another person.', linkButton(`${path}/owner`, 'Change owner', 'small'))}
    ${deed(
      `All sessions started on ${hostname} end, and its agent is refused from now on.`,
      linkButton(`${path}/revoke`, 'Revoke device', 'small'),
    )}
    ${deed(
      'Revokes the device and permanently deletes everything about it. The audit trail keeps its name.',
      linkButton(`${path}/remove`, 'Delete device', 'small'),
    )}
  </ul>`
}
