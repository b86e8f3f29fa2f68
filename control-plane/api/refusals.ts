/** Which refusals an endpoint can answer with: its own, and those that follow from its declaration. */
import type { ErrorCode } from '../../shared/errors.ts'
import type { Caller, Declaration } from './endpoint.ts'

const OF_CALLER = {
  anyone: [],
  analyzer: ['analyzer_key_invalid'],
  analyzer_in_query: ['analyzer_key_invalid'],
  client: ['client_credentials_invalid'],
  operator: ['operator_key_invalid'],
} as const satisfies Record<Caller, readonly ErrorCode[]>

const OF_BODY = [
  'field_invalid',
  'body_not_json',
  'body_too_large',
  'media_type_unsupported',
] as const

const OF_JOSE = [
  'field_invalid',
  'body_too_large',
  'media_type_unsupported',
  'device_refused',
] as const

export function refusalsOf(declaration: Declaration): readonly ErrorCode[] {
  const { caller, isUnlimited, path, query, body, jose, refusals = [] } = declaration
  const isFree = caller === 'anyone' && isUnlimited === true
  return [
    ...new Set<ErrorCode>([
      ...(query === undefined ? [] : (['query_invalid'] as const)),
      ...(body === undefined ? [] : OF_BODY),
      ...(jose === undefined ? [] : OF_JOSE),
      ...OF_CALLER[caller],
      ...(path.includes('{tenant_id}') ? (['tenant_not_found'] as const) : []),
      ...(path.includes('{user_id}') ? (['user_not_found'] as const) : []),
      ...refusals,
      // wrong keys are slowed down even where right ones are not
      ...(isFree ? [] : (['rate_limited'] as const)),
    ]),
  ]
}
