/** «API equivalent»: the call that does the same, for whoever wants it in a script. */
import { html } from 'hono/html'
import { quoted } from '../../pages/shell.ts'
import type { Html } from '../../pages/html.ts'
import type { ApiCall } from '../route.ts'
import { copyable } from './text.ts'

function curlOf({ method, path, body }: ApiCall, baseUrl: string): string {
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(baseUrl + path)}`,
    '-H "Authorization: Bearer $SERVICE_OPERATOR_KEY"',
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ]
  return parts.join(' \\\n  ')
}

export function apiCalls(calls: readonly ApiCall[], baseUrl: string): Html {
  return html`<details class="calls">
    <summary>API equivalent</summary>
    ${calls.map((call) => {
      const label = call.label ?? `${call.method} ${call.path}`
      return html`<p class="hint">${label}</p>
        ${copyable(curlOf(call, baseUrl), label)}`
    })}
  </details>`
}
