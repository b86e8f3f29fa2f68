/** What is pasted at a machine to enroll it, and what is said beside it. */
import { html } from 'hono/html'
import type { DevicePlatform } from '../../../../shared/device/facts.ts'
import type { Html } from '../../../pages/html.ts'
import { copyable } from '../../blocks/text.ts'

/** The address is ours and the ticket has letters, digits, `-` and `_` alone: nothing has to be quoted further. */
const COMMANDS: Readonly<Record<DevicePlatform, (url: string) => string>> = {
  linux: (url) => `curl -fsSL '${url}' | sudo sh`,
  windows: (url) => `irm '${url}' | iex`,
}

const WHERE: Readonly<Record<DevicePlatform, string>> = {
  linux: 'Run this in a terminal on the device. It asks for the password of an administrator.',
  windows: 'Run this on the device, in a PowerShell opened with “Run as administrator”.',
}

function enrollCommand(baseUrl: string, platform: DevicePlatform, ticket: string): string {
  return COMMANDS[platform](`${baseUrl}/install/${platform}?ticket=${ticket}`)
}

export const howToEnroll = (
  baseUrl: string,
  platform: DevicePlatform,
  { ticket, tenantId }: { readonly ticket: string; readonly tenantId: string },
): Html =>
  html`<p>${WHERE[platform]}</p>
    ${copyable(enrollCommand(baseUrl, platform, ticket), 'Command that enrolls a device')}
    <p>
      The script verifies what it downloads, installs the agent as a service, and enrolls the device
      with the ticket. Anyone who sees the command before it is used can enroll a device with it.
    </p>
    <details>
      <summary>With your own device management</summary>
      <p>
        <a href="${baseUrl}/install/${platform}/${tenantId}">Download the script without a ticket</a>,
        and give each device its ticket on standard input. Tickets are never accepted as arguments,
        because other programs on the device can read those.
      </p>
    </details>`
