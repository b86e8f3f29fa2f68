/** How a provider is told that something cannot be: RFC 7644, section 3.12, and what to do about it. */
import type { Refusal, ErrorCode } from '../../shared/errors.ts'

/** Those of table 9 that we have use for. */
type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'tooMany'
  | 'uniqueness'

export class ScimError extends Error {
  readonly status: number
  readonly scimType: ScimType | undefined
  readonly detail: string

  constructor(status: number, detail: string, scimType?: ScimType) {
    super(detail)
    this.name = 'ScimError'
    this.status = status
    this.scimType = scimType
    this.detail = detail
  }
}

export const invalid = (attribute: string, wish: string) =>
  new ScimError(400, `"${attribute}" must be ${wish}.`, 'invalidValue')

const TYPES: Partial<Record<ErrorCode, ScimType>> = {
  body_not_json: 'invalidSyntax',
  body_too_large: 'tooMany',
  field_invalid: 'invalidValue',
  query_invalid: 'invalidValue',
  username_taken: 'uniqueness',
  email_taken: 'uniqueness',
  group_taken: 'uniqueness',
}

/** What is here already is never taken over by a push: what a person or a group is, is decided once. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  username_taken:
    'Another user already has this userName. Give this one another userName, or rename or delete the other account in the console.',
  email_taken:
    'Another user already has this email address. Accounts that provisioning did not create are never taken over: in the console, hand that account over to your provider, or delete it. Then try again.',
  group_taken:
    'Another group that was provisioned already has this displayName. Rename one of the two at your provider.',
  groups_full:
    'This tenant has as many groups as it can have. Assign fewer groups at your provider, or delete unused ones in the console.',
  field_invalid: 'The request has a field that is not valid JSON for SCIM.',
  media_type_unsupported: 'Send the body with Content-Type: application/scim+json.',
  rate_limited: 'Too many requests. Wait as long as Retry-After says, then go on.',
}

export function asScimError(refusal: Refusal): ScimError {
  const { code, status, detail } = refusal
  const isOwn = code === 'field_invalid' && refusal.detail !== 'A field is missing or invalid.'
  const said = isOwn ? detail : (SENTENCES[code] ?? detail)
  return new ScimError(status, said, TYPES[code])
}

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error'

export function errorBody({ status, scimType, detail }: ScimError) {
  return {
    schemas: [ERROR_SCHEMA],
    status: String(status),
    ...(scimType !== undefined && { scimType }),
    detail,
  }
}
