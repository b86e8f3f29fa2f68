/** What is typed beside the application, for a first connector and for one more. */
import { html } from 'hono/html'
import type { Html } from '../../../pages/html.ts'
import { copyable } from '../../blocks/text.ts'

/** On its own machine, as far as it can be known here: the port may be another one. */
const ORIGIN = 'http://127.0.0.1:3000'

export const connectCommands = (baseUrl: string): string =>
  [
    `curl -fsSL ${baseUrl}/api/v1/connector/install | sh`,
    `service-connector join --origin ${ORIGIN}`,
    'service-connector run',
  ].join('\n')

/** `join` asks for the token where nobody sees it, so none stands in what is pasted. */
export const howToConnect = (baseUrl: string): Html =>
  html`<p>
      Run this on the machine of the application, with its own address after
      <code>--origin</code>. It needs Node.js 20 or later and a way out to the gateways; nothing has
      to be opened.
    </p>
    ${copyable(connectCommands(baseUrl), 'Commands that connect an application')}
    <p><code>join</code> asks for the join token and hides what you paste.</p>
    <details>
      <summary>In a script or a container</summary>
      <p>
        Put the token into a file that only you can read. Tokens are never accepted as arguments,
        because <code>ps</code> shows those to everyone.
      </p>
      ${copyable(`service-connector join --token-file join-token --origin ${ORIGIN}`, 'Joining without a prompt')}
    </details>
    <details>
      <summary>As a service, or when something is wrong</summary>
      <p>
        On Linux with systemd, install and join as root, and instead of <code>run</code>:
        <code>service-connector service install</code>. It then starts with the machine.
      </p>
      <p>
        <code>service-connector diag</code> names what is at fault: the network, a proxy, the key, a
        gateway, or the application.
      </p>
    </details>`
