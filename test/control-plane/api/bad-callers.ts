/** Every secret that there is, and some that are not, in every place but the right one. */
import type { Declaration } from '../../../control-plane/api/endpoint.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { MARKER, type BadCase } from './bad-case.ts'
import { callOf, type Prepared } from './endpoint-calls.ts'
import { basic, type Otherwise } from './endpoint-world.ts'

const KEY_ERRORS = {
  analyzer: 'analyzer_key_invalid',
  analyzer_in_query: 'analyzer_key_invalid',
  client: 'client_credentials_invalid',
  operator: 'operator_key_invalid',
} as const

export function callerCases(declaration: Declaration, prepared: Prepared): readonly BadCase[] {
  const { caller } = declaration
  if (caller === 'anyone') return []
  const { tenant } = callOf(declaration, prepared)
  const own = prepared.tenants[tenant]
  const { other } = prepared.tenants
  const refused = (name: string, otherwise: Otherwise): BadCase => ({
    name,
    otherwise,
    status: 401,
    error: KEY_ERRORS[caller],
  })
  const secrets = { operator: OPERATOR_KEY, analyzer: own.analyzer_key, client: own.client_secret }
  const right =
    caller === 'client'
      ? basic(own.client_id, own.client_secret)
      : `Bearer ${caller === 'operator' ? OPERATOR_KEY : own.analyzer_key}`
  const values = [
    ...Object.entries(secrets)
      .filter(([kind]) => kind !== caller)
      .map(([, secret]) => `Bearer ${secret}`),
    `Bearer ${own.client_secret}`,
    ...['', 'x', MARKER, 'x'.repeat(LIMITS.secretCharactersMax + 1), '%00', '\xff'].map(
      (key) => `Bearer ${key}`,
    ),
    right.replace(/^\w+ /, ''),
    right.replace(' ', '  '),
    right.replace(/^\w+/, 'Token'),
    `${right}x`,
    `${right}, ${right}`,
    `${right} ${right}`,
    basic(own.client_id, own.analyzer_key),
    basic(own.client_id, other.client_secret),
    basic(other.client_id, own.client_secret),
    basic('', own.client_secret),
    basic(tenant, own.client_secret),
    basic('-user', own.client_secret),
    basic('__proto__-user', own.client_secret),
    basic(own.client_id, ''),
    basic(own.client_id, 'x'.repeat(LIMITS.secretCharactersMax + 1)),
    `Basic ${own.client_secret}`,
    'Basic %%%',
  ]
  const query = `api_key=${own.analyzer_key}&access_token=${OPERATOR_KEY}`
  if (caller === 'analyzer_in_query') {
    const key = `api_key=${own.analyzer_key}`
    const wrong = [
      '',
      'api_key=',
      `${key}x`,
      `${key}&${key}`,
      `${key}&api_key=x`,
      `API_KEY=${own.analyzer_key}`,
    ]
    const foreign = [OPERATOR_KEY, own.client_secret].map((secret) => `api_key=${secret}`)
    return [
      ...[...wrong, ...foreign, `api_key=${'x'.repeat(600)}`].map((keyInQuery) =>
        refused(`?${keyInQuery.slice(0, 20)}`, { keyInQuery }),
      ),
      refused('the key as a bearer', { keyInQuery: '', authorization: right }),
    ]
  }
  return [
    refused('no key', { authorization: null }),
    refused('the key in the query', { authorization: null, query }),
    refused('the key in another header', { authorization: null, headers: { 'x-api-key': right } }),
    ...values.map((authorization) =>
      refused(`Authorization: ${authorization.slice(0, 30)}`, { authorization }),
    ),
  ]
}
