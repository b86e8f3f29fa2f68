/**
 * Every error that the service answers with, by its status: the code is for programs, the detail for people.
 * What went wrong inside stays in the log, beside the same request id.
 */
const DETAILS = {
  400: {
    request_invalid: 'This is not a well-formed HTTP request.',
    body_not_json: 'The body is not valid JSON.',
    field_invalid: 'A field has a wrong value.',
    query_invalid: 'A query parameter has a wrong value.',
  },
  401: {
    operator_key_invalid: 'The operator key is missing or wrong.',
    analyzer_key_invalid: 'The analyzer key is missing or wrong.',
    client_credentials_invalid: 'The client id or the client secret is missing or wrong.',
    console_session_over:
      'You are not signed in to the console, or no longer; nothing was changed.',
  },
  403: {
    cross_site_form:
      'This form did not come from a page of yours; open the page again and send it anew.',
    fresh_sign_in_needed: 'This asks you to prove that it is you: sign in again, then repeat it.',
  },
  404: {
    not_found: 'There is nothing at this address.',
    gateway_not_found: 'There is no such gateway, or no such key of it.',
    tenant_not_found: 'There is no such tenant.',
    user_not_found: 'There is no such user.',
    session_not_found: 'There is no such session.',
    address_block_not_found: 'This address is not blocked.',
    factor_not_found: 'The user has no such second factor.',
    not_published: 'The tenant has no signing key yet: publish it first.',
    invitation_not_found: 'There is no such invitation, or no longer.',
    hostname_not_found: 'The tenant has no such hostname.',
    webhook_not_found: 'The tenant has no such webhook.',
    delivery_not_found: 'The webhook has no such delivery.',
    alert_not_found: 'The tenant has no such alert.',
    directory_not_found: 'The tenant has no user directory.',
    no_guide: 'There is no guide for this tenant yet: run service-analyzer analyze --use-ai.',
  },
  405: {
    method_not_allowed: 'This address does not take that method.',
  },
  409: {
    form_spent:
      'This form has been sent before; look whether it was done before you send it again.',
    form_changed:
      'This form was sent before, with other values. Look whether that was done; if you send this as well, both are.',
    form_stale:
      'This page was open for too long, or under another account, so nothing was changed. Check what you typed, then send it again.',
    gateway_keys_full: 'This gateway has two keys already: revoke the one that it no longer uses.',
    gateways_full: 'There are as many gateways as can be; remove one.',
    factor_needed: 'The policy of this tenant asks for a second factor: add another one first.',
    user_elsewhere: 'This person is kept in the tenant’s own database: change the password there.',
    operator_exists: 'There is an operator already; with `force` a link for another one is made.',
    last_administrator:
      'Nobody else could administer this tenant: invite a colleague first, and wait until they have accepted.',
    invitation_accepted:
      'This person has accepted their invitation: they sign in with their own password.',
    invitations_full:
      'Too many invitations are waiting: withdraw one that nobody accepts any more.',
    own_account:
      'This is your own account: change its second factors under “Password and second factors”.',
    last_operator:
      'Nobody else could run this service: invite another operator, and wait until they have come.',
    tenant_taken: 'Another tenant already has this id.',
    hostname_taken: 'Another tenant already uses this hostname.',
    username_taken: 'Another user of this tenant has this username.',
    email_taken: 'Another user of this tenant has this e-mail address.',
    tenant_draft: 'The tenant is not published yet. An operator of the service publishes it first.',
    mode_not_sdk: 'The tenant is not in sdk mode: its edge enforces.',
    tenant_suspended: 'The tenant is suspended: activate it first.',
    key_taken: 'This signing key is in use already.',
    rotation_state: 'The key rotation is not at a point where this can be done.',
    key_still_used: 'A session signed with this key can still be alive; wait, or force it.',
    changed_meanwhile: 'The tenant was changed while this was being done; try again.',
    not_verified: 'Verification has not confirmed the middleware and the key.',
    not_complete: 'The sign-in does not work from end to end yet; the checks say what to do.',
    licence_blocked: 'The licence blocks sign-in: with protection on nobody could get in.',
    certificates_too_large:
      'The certificates of this tenant are larger, together, than gateways take.',
    plan_without_webhooks: 'The plan of this tenant has no webhooks: they come with premium.',
    webhook_paused: 'The webhook is paused: set it to active first.',
    replay_running:
      'This tenant is sending again already what was given up; ask again once that is done.',
    webhooks_exhausted: 'The tenant has as many webhooks as it may have.',
    deliveries_exhausted:
      'As many deliveries as may are waiting for this webhook; try again later.',
    alerts_exhausted: 'The tenant has as many alerts as it may have.',
    directory_refused: 'The user directory cannot be used like this.',
    directory_account_unusable:
      'What the user directory says about this person cannot be used here.',
  },
  410: {
    ticket_spent: 'This link has been used, or is too old.',
  },
  413: {
    body_too_large: 'The body is larger than this endpoint takes.',
  },
  415: {
    media_type_unsupported: 'Send the body as application/json.',
  },
  429: {
    rate_limited: 'Too many requests; wait before the next one.',
  },
  500: {
    internal: 'Something went wrong on our side; the request id finds it in the log.',
  },
  502: {
    ai_provider_refused:
      'The AI provider refuses this service: its operator has to look at key and model.',
    ai_answer_unusable: 'The AI provider answered with something that is no guide; try again.',
    ai_answer_cut: 'The guide became longer than it may be and was cut off; send fewer files.',
    ai_declined: 'The model declined to write a guide for these files; the rules work without it.',
    ai_edits_refused:
      'The model proposed edits that are not allowed, so nothing of its guide was kept.',
  },
  503: {
    directory_unavailable: "The tenant's own database does not answer; try again shortly.",
    ai_not_configured:
      'This service has no AI provider. The rules of service-analyzer work without one.',
    ai_busy: 'Many analyses are running; try again shortly.',
    ai_budget_spent:
      'What may be spent on analyses today is spent; it begins anew at midnight UTC.',
    ai_unavailable: 'The AI provider does not answer, or has too much to do; try again later.',
    unavailable: 'The service cannot answer this now; try again shortly.',
  },
  504: {
    ai_timeout: 'The AI provider did not finish in time; send fewer files, or try again later.',
  },
} as const

type Details = typeof DETAILS
export type ErrorCode = { [Status in keyof Details]: keyof Details[Status] }[keyof Details]

export const ERRORS = Object.fromEntries(
  Object.entries(DETAILS).flatMap(([status, details]) =>
    Object.entries(details).map(([code, detail]) => [code, { status: Number(status), detail }]),
  ),
) as Readonly<Record<ErrorCode, { readonly status: number; readonly detail: string }>>

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
