/** On a person's page: the machines with our agent that are theirs. */
import { html } from 'hono/html'
import type { ListedDevice } from '../../../devices/management.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import type { Html } from '../../../pages/html.ts'
import { table } from '../../blocks/table.ts'
import { age } from '../../blocks/text.ts'
import type { TenantVisit } from '../../route.ts'
import { devicePath, enrollPath } from './paths.ts'
import { stateBadge, systemText } from './words.ts'

export function ownDevices(
  { tenant: { tenantId }, proofs, nowMs }: TenantVisit,
  userId: string,
  rows: readonly ListedDevice[],
): Html {
  const list = table({
    caption: 'Devices',
    rows,
    columns: [
      {
        label: 'Device',
        isName: true,
        cell: (device) =>
          html`<a href="${devicePath(tenantId, device.deviceId)}">${device.hostname}</a>
            <span class="hint">${systemText(device)}</span>`,
      },
      { label: 'State', cell: stateBadge },
      { label: 'Last contact', cell: ({ seenAt }) => age(seenAt, nowMs) },
    ],
    empty: html`<p class="hint">No devices with our agent belong to this person.</p>`,
  })
  if (proofs.isReadOnly) return list
  const href = `${enrollPath(tenantId)}?user_id=${encodeURIComponent(userId)}`
  return html`${list}
    <div class="submit">${linkButton(href, 'Enroll a device', 'small')}</div>`
}
