/**
 * Every error that the service answers with: the code is for programs, the detail for people.
 * What went wrong inside stays in the log, beside the same request id.
 */
export const ERRORS = {
  // who asks
  operator_key_invalid: { status: 401, detail: 'The operator key is missing or wrong.' },
  analyzer_key_invalid: { status: 401, detail: 'The analyzer key is missing or wrong.' },
  client_credentials_invalid: {
    status: 401,
    detail: 'The client id or the client secret is missing or wrong.',
  },
  console_session_over: {
    status: 401,
    detail: 'You are not signed in to the console, or no longer; nothing was changed.',
  },
  cross_site_form: {
    status: 403,
    detail: 'This form did not come from a page of yours; open the page again and send it anew.',
  },
  form_spent: {
    status: 409,
    detail: 'This form has been sent before; look whether it was done before you send it again.',
  },
  form_changed: {
    status: 409,
    detail:
      'This form was sent before, with other values. Look whether that was done; if you send this as well, both are.',
  },
  form_stale: {
    status: 409,
    detail:
      'This page was open for too long, or under another account, so nothing was changed. Check what you typed, then send it again.',
  },
  fresh_sign_in_needed: {
    status: 403,
    detail: 'This asks you to prove that it is you: sign in again, then repeat it.',
  },
  // what was sent
  request_invalid: { status: 400, detail: 'This is not a well-formed HTTP request.' },
  body_not_json: { status: 400, detail: 'The body is not valid JSON.' },
  body_too_large: { status: 413, detail: 'The body is larger than this endpoint takes.' },
  media_type_unsupported: { status: 415, detail: 'Send the body as application/json.' },
  field_invalid: { status: 400, detail: 'A field has a wrong value.' },
  query_invalid: { status: 400, detail: 'A query parameter has a wrong value.' },
  method_not_allowed: { status: 405, detail: 'This address does not take that method.' },
  rate_limited: { status: 429, detail: 'Too many requests; wait before the next one.' },
  // what it is about
  not_found: { status: 404, detail: 'There is nothing at this address.' },
  gateway_not_found: { status: 404, detail: 'There is no such gateway, or no such key of it.' },
  gateway_keys_full: {
    status: 409,
    detail: 'This gateway has two keys already: revoke the one that it no longer uses.',
  },
  gateways_full: { status: 409, detail: 'There are as many gateways as can be; remove one.' },
  tenant_not_found: { status: 404, detail: 'There is no such tenant.' },
  user_not_found: { status: 404, detail: 'There is no such user.' },
  session_not_found: { status: 404, detail: 'There is no such session.' },
  address_block_not_found: { status: 404, detail: 'This address is not blocked.' },
  factor_not_found: { status: 404, detail: 'The user has no such second factor.' },
  factor_needed: {
    status: 409,
    detail: 'The policy of this tenant asks for a second factor: add another one first.',
  },
  not_published: { status: 404, detail: 'The tenant has no signing key yet: publish it first.' },
  user_elsewhere: {
    status: 409,
    detail: 'This person is kept in the tenant’s own database: change the password there.',
  },
  ticket_spent: { status: 410, detail: 'This link has been used, or is too old.' },
  operator_exists: {
    status: 409,
    detail: 'There is an operator already; with `force` a link for another one is made.',
  },
  last_administrator: {
    status: 409,
    detail:
      'Nobody else could administer this tenant: invite a colleague first, and wait until they have accepted.',
  },
  invitation_accepted: {
    status: 409,
    detail: 'This person has accepted their invitation: they sign in with their own password.',
  },
  invitation_not_found: { status: 404, detail: 'There is no such invitation, or no longer.' },
  invitations_full: {
    status: 409,
    detail: 'Too many invitations are waiting: withdraw one that nobody accepts any more.',
  },
  own_account: {
    status: 409,
    detail:
      'This is your own account: change its second factors under “Password and second factors”.',
  },
  last_operator: {
    status: 409,
    detail:
      'Nobody else could run this service: invite another operator, and wait until they have come.',
  },
  tenant_taken: { status: 409, detail: 'Another tenant already has this id.' },
  hostname_taken: { status: 409, detail: 'Another tenant already uses this hostname.' },
  username_taken: { status: 409, detail: 'Another user of this tenant has this username.' },
  email_taken: { status: 409, detail: 'Another user of this tenant has this e-mail address.' },
  tenant_draft: {
    status: 409,
    detail: 'The tenant is not published yet. An operator of the service publishes it first.',
  },
  mode_not_sdk: {
    status: 409,
    detail: 'The tenant is not in sdk mode: its edge enforces.',
  },
  tenant_suspended: { status: 409, detail: 'The tenant is suspended: activate it first.' },
  key_taken: { status: 409, detail: 'This signing key is in use already.' },
  rotation_state: {
    status: 409,
    detail: 'The key rotation is not at a point where this can be done.',
  },
  key_still_used: {
    status: 409,
    detail: 'A session signed with this key can still be alive; wait, or force it.',
  },
  changed_meanwhile: {
    status: 409,
    detail: 'The tenant was changed while this was being done; try again.',
  },
  not_verified: {
    status: 409,
    detail: 'Verification has not confirmed the middleware and the key.',
  },
  not_complete: {
    status: 409,
    detail: 'The sign-in does not work from end to end yet; the checks say what to do.',
  },
  licence_blocked: {
    status: 409,
    detail: 'The licence blocks sign-in: with protection on nobody could get in.',
  },
  hostname_not_found: { status: 404, detail: 'The tenant has no such hostname.' },
  certificates_too_large: {
    status: 409,
    detail: 'The certificates of this tenant are larger, together, than gateways take.',
  },
  webhook_not_found: { status: 404, detail: 'The tenant has no such webhook.' },
  delivery_not_found: { status: 404, detail: 'The webhook has no such delivery.' },
  plan_without_webhooks: {
    status: 409,
    detail: 'The plan of this tenant has no webhooks: they come with premium.',
  },
  webhook_paused: { status: 409, detail: 'The webhook is paused: set it to active first.' },
  replay_running: {
    status: 409,
    detail: 'This tenant is sending again already what was given up; ask again once that is done.',
  },
  webhooks_exhausted: { status: 409, detail: 'The tenant has as many webhooks as it may have.' },
  deliveries_exhausted: {
    status: 409,
    detail: 'As many deliveries as may are waiting for this webhook; try again later.',
  },
  alert_not_found: { status: 404, detail: 'The tenant has no such alert.' },
  alerts_exhausted: { status: 409, detail: 'The tenant has as many alerts as it may have.' },
  directory_not_found: { status: 404, detail: 'The tenant has no user directory.' },
  directory_refused: {
    status: 409,
    detail: 'The user directory cannot be used like this.',
  },
  directory_unavailable: {
    status: 503,
    detail: "The tenant's own database does not answer; try again shortly.",
  },
  directory_account_unusable: {
    status: 409,
    detail: 'What the user directory says about this person cannot be used here.',
  },
  no_guide: {
    status: 404,
    detail: 'There is no guide for this tenant yet: run service-analyzer analyze --use-ai.',
  },
  // what a model was asked for
  ai_not_configured: {
    status: 503,
    detail: 'This service has no AI provider. The rules of service-analyzer work without one.',
  },
  ai_busy: { status: 503, detail: 'Many analyses are running; try again shortly.' },
  ai_budget_spent: {
    status: 503,
    detail: 'What may be spent on analyses today is spent; it begins anew at midnight UTC.',
  },
  ai_unavailable: {
    status: 503,
    detail: 'The AI provider does not answer, or has too much to do; try again later.',
  },
  ai_timeout: {
    status: 504,
    detail: 'The AI provider did not finish in time; send fewer files, or try again later.',
  },
  ai_provider_refused: {
    status: 502,
    detail: 'The AI provider refuses this service: its operator has to look at key and model.',
  },
  ai_answer_unusable: {
    status: 502,
    detail: 'The AI provider answered with something that is no guide; try again.',
  },
  ai_answer_cut: {
    status: 502,
    detail: 'The guide became longer than it may be and was cut off; send fewer files.',
  },
  ai_declined: {
    status: 502,
    detail: 'The model declined to write a guide for these files; the rules work without it.',
  },
  ai_edits_refused: {
    status: 502,
    detail: 'The model proposed edits that are not allowed, so nothing of its guide was kept.',
  },
  unavailable: { status: 503, detail: 'The service cannot answer this now; try again shortly.' },
  internal: {
    status: 500,
    detail: 'Something went wrong on our side; the request id finds it in the log.',
  },
} as const satisfies Record<string, { status: number; detail: string }>

export type ErrorCode = keyof typeof ERRORS

/** An expected refusal on its way to the one `onError`. `fields` are added to the body. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly detail: string
  readonly fields: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, fields: Record<string, unknown> = {}, detail?: string) {
    super(code)
    this.name = 'Refusal'
    this.code = code
    this.status = ERRORS[code].status
    this.detail = detail ?? ERRORS[code].detail
    this.fields = fields
  }

  body(): Record<string, unknown> {
    return { error: this.code, detail: this.detail, ...this.fields }
  }
}
