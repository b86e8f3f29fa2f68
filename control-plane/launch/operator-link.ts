import { expectStatus, type ApiClient } from './api-client.ts'

/** undefined: there is an operator already, and nobody asked for another one. */
export async function operatorLink(
  operator: ApiClient,
  isForced: boolean,
): Promise<string | undefined> {
  const path = '/operator/console/operator-links'
  const answer = await operator.request('POST', path, { force: isForced })
  if (answer.status === 409 && answer.body['error'] === 'operator_exists') return undefined
  const { url } = expectStatus(answer, 'making a link for the console', 201).body
  return String(url)
}
