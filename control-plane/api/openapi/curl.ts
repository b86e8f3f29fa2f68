/** A line for a shell that does what an endpoint is for; secrets are variables of that shell. */
import { quoted } from '../../pages/shell.ts'
import type { Caller, Declaration } from '../endpoint.ts'
import { PATH_PARAMETERS, parametersIn } from './path-parameters.ts'

const PROOFS: Readonly<Record<Caller, readonly string[]>> = {
  anyone: [],
  analyzer: ['-H "Authorization: Bearer $SERVICE_ANALYZER_KEY"'],
  analyzer_in_query: ['--get --data-urlencode "api_key=$SERVICE_ANALYZER_KEY"'],
  client: ['-u "$SERVICE_TENANT_ID-user:$SERVICE_CLIENT_SECRET"'],
  operator: ['-H "Authorization: Bearer $SERVICE_OPERATOR_KEY"'],
}

export function curlLine(declaration: Declaration, baseUrl: string): string {
  const { method, path, caller, example, jose } = declaration
  const filled = parametersIn(path).reduce(
    (url, name) => url.replace(`{${name}}`, encodeURIComponent(PATH_PARAMETERS[name].example)),
    path,
  )
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(baseUrl + filled)}`,
    ...PROOFS[caller],
    ...(example === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(example))}`]),
    ...(jose === undefined
      ? []
      : [`-H 'Content-Type: application/jose'`, '-d "$SERVICE_DEVICE_MESSAGE"']),
  ]
  return parts.join(' \\\n  ')
}
