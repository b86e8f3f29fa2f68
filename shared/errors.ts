/**
 * Every error that the service answers with, by its status: the code is for programs, the detail for people.
 * What went wrong inside stays in the log, beside the same request id.
 */
const DETAILS = {
  400: {
    request_invalid: 'This is not a well-formed HTTP request.',
    body_not_json: 'The body is not valid JSON.',
    field_invalid: 'A field is missing or invalid.',
    query_invalid: 'A query parameter is invalid.',
    authorization_pending: 'No one has allowed this request in the console yet. Keep polling.',
    slow_down: 'You are polling too fast. Wait for `interval` seconds before you poll again.',
    access_denied:
      'The request was denied in the console. If that was a mistake, run service-analyzer setup again.',
    expired_token:
      'This device code is unknown, was used, or has expired. Run service-analyzer setup again.',
  },
  401: {
    operator_key_invalid: 'The operator key is missing or wrong.',
    analyzer_key_invalid: 'The analyzer key is missing or wrong.',
    connector_token_invalid:
      'This join token is unknown, was used, or has expired. Create a new one on the Connectors page of the tenant.',
    connector_refused:
      'This connector is unknown or was revoked, or its signature is not valid. Join again with a new token.',
    device_ticket_invalid:
      'This ticket is unknown, was used, or has expired, or it is for another platform or network. Create a new one on the Devices page of the tenant.',
    device_refused:
      'This device is unknown or was revoked, or its signature is not valid. Enroll it again with a new ticket.',
    client_credentials_invalid: 'The client id or the client secret is missing or wrong.',
    console_session_over: 'Your console session has ended. Sign in again; nothing was changed.',
  },
  403: {
    cross_site_form:
      'This form was not sent from your own page. Reload the page and submit it again.',
    role_read_only:
      'Your role is read-only. You can see everything here but change nothing. Ask an administrator for another role.',
    fresh_sign_in_needed: "Confirm it's you: sign in again, then repeat this action.",
  },
  404: {
    not_found: 'Nothing was found at this address.',
    gateway_not_found: 'Gateway or gateway key not found.',
    tenant_not_found: 'Tenant not found.',
    user_not_found: 'User not found.',
    session_not_found: 'Session not found.',
    address_block_not_found: 'This address is not blocked.',
    sign_up_not_found:
      'Nobody waits for approval under this ID. The request may have been decided, or have expired.',
    factor_not_found: 'Second factor not found for this user.',
    not_published: 'This tenant has no signing key yet. Publish the tenant first.',
    invitation_not_found: 'Invitation not found. It may have been accepted, withdrawn or expired.',
    device_code_not_found:
      'No command-line tool is waiting with this code. Codes expire after 10 minutes. Check the code in your terminal, or run service-analyzer setup again.',
    connection_not_found: 'Connection not found for this tenant.',
    client_not_found: 'OIDC client not found for this tenant.',
    domain_not_found: 'Domain not found for this connection.',
    identity_not_found: 'This user does not sign in with that connection.',
    group_not_found: 'Group not found for this tenant.',
    service_not_found: 'Machine not found for this tenant.',
    service_secret_not_found: 'Secret not found for this machine. It may have been revoked.',
    connector_not_found: 'Connector not found for this tenant.',
    device_not_found: 'Device not found for this tenant.',
    device_ticket_not_found: 'Device ticket not found for this tenant. It may have expired.',
    device_challenge_invalid:
      'This challenge is unknown, was used, or has expired. Start again from the sign-in page.',
    certificate_not_found: 'There is no uploaded certificate for this hostname.',
    connector_token_not_found:
      'Join token not found for this tenant. It may have been used, deleted or expired.',
    hostname_not_found: 'Hostname not found for this tenant.',
    scim_token_not_found:
      'Provisioning token not found for this tenant. It may have been revoked or expired.',
    webhook_not_found: 'Webhook not found for this tenant.',
    delivery_not_found: 'Delivery not found for this webhook.',
    alert_not_found: 'Alert not found for this tenant.',
    directory_not_found: 'This tenant has no user directory.',
    no_guide: 'This tenant has no guide yet. Run service-analyzer analyze --use-ai.',
  },
  405: {
    method_not_allowed: 'This endpoint does not support that method.',
  },
  409: {
    device_code_off:
      'This tenant does not accept typed device codes. An administrator can allow them in the device policy.',
    form_spent:
      'This form was already submitted. Check whether the change was made before you submit it again.',
    form_changed:
      'This form was already submitted with other values. Check whether that change was made; submitting this one makes both.',
    form_stale:
      'This page was open for too long, or you signed in with another account. Nothing was changed. Check your entries, then submit again.',
    gateway_keys_full: 'This gateway already has two keys. Revoke the one it no longer uses.',
    gateways_full: 'The maximum number of gateways is reached. Remove one first.',
    factor_needed: 'This tenant requires a second factor. Add another one first.',
    user_elsewhere: 'This user comes from the tenant’s own database. Change the password there.',
    operator_exists: 'An operator already exists. Use `force` to create a link for another one.',
    last_administrator:
      'This is the last administrator of this tenant. Invite another one first, and wait until they accept.',
    invitation_accepted:
      'This invitation was already accepted; the person signs in with their own password.',
    invitations_full: 'Too many invitations are pending. Withdraw one that is no longer needed.',
    own_account:
      'This is your own account. Change its second factors under “Password and second factors”.',
    last_operator:
      'This is the last operator. Invite another one first, and wait until they accept.',
    tenant_taken: 'Another tenant already has this id.',
    hostname_taken: 'Another tenant already uses this hostname.',
    hostname_claims_full:
      'Too many hostnames wait for their proof. Remove one that is no longer needed.',
    hostname_just_checked:
      'This hostname was checked a moment ago. Wait ten seconds, then try again.',
    group_taken: 'This tenant already has a group with this name.',
    group_used: 'Access rules use this group. Change the rules first.',
    access_rules_changed:
      'Somebody else changed these rules meanwhile. Nothing was saved. Look at the rules as they are now, then make your change again.',
    service_used: 'Access rules name this machine. Change the rules first, or disable it.',
    services_full: 'This tenant has the maximum number of machines. Delete one first.',
    service_secrets_full: 'This machine has two secrets already. Revoke one first.',
    groups_full: 'This tenant has as many groups as it can have.',
    username_taken: 'Another user of this tenant already has this username.',
    email_taken: 'Another user of this tenant already has this email address.',
    tenant_draft: 'This tenant is not published yet. An operator must publish it first.',
    mode_not_sdk:
      'This tenant is not in sdk mode: gateways enforce sign-in for it. This call is for sdk mode only.',
    mode_not_connector:
      'This tenant is not in connector mode. Change its mode to `connector` first.',
    device_suspect_clone:
      'This device may have been copied: another machine uses its key. An administrator must look at it on the Devices page.',
    device_chain_lost:
      'This is not what the device was answered last. Ask for a nonce and check in with it.',
    device_revoked: 'This device was revoked. Enroll it again with a new ticket.',
    devices_full: 'This tenant has the maximum number of devices. Revoke some first.',
    device_tickets_full: 'This tenant has the maximum number of device tickets. Delete one first.',
    connectors_full: 'This tenant has the maximum number of connectors. Revoke one first.',
    connector_tokens_full: 'This tenant has the maximum number of join tokens. Delete one first.',
    scim_tokens_full:
      'This tenant has the maximum number of provisioning tokens. Revoke one first.',
    tenant_suspended: 'This tenant is suspended. Activate it first.',
    key_taken: 'This signing key is already in use.',
    rotation_state: 'This step is not possible in the current state of the key rotation.',
    key_still_used: 'Sessions signed with this key may still be active. Wait, or use force.',
    changed_meanwhile: 'The tenant was changed at the same time. Try again.',
    not_verified: 'Verification has not confirmed the middleware and its key yet.',
    local_checks_failed:
      'The latest report of service-analyzer found something that is open without a sign-in. Fix what checks name and run service-analyzer verify, or send ignore_local_checks: true.',
    not_complete: 'Sign-in does not work end to end yet. See the failed checks for what to do.',
    licence_blocked: 'The license blocks sign-in, so nobody could sign in with protection on.',
    certificate_not_ordered:
      'No certificate is ordered for this hostname: it has an uploaded one, the tenant is not published, or control_plane.acme is off.',
    certificates_too_large: 'The certificates of this tenant are too large in total.',
    tenant_too_large:
      'Paths, hostnames, certificates, access rules, machines and connectors of this tenant would be too large in total for gateways. Remove what is no longer needed, then try again.',
    plan_without_webhooks: 'The plan of this tenant does not include webhooks. Upgrade to premium.',
    webhook_paused: 'This webhook is paused. Activate it first.',
    replay_running:
      'Failed deliveries of this tenant are already being retried. Try again when that is done.',
    clients_full: 'This tenant has the maximum number of OIDC clients. Delete one first.',
    connections_exhausted: 'The maximum number of connections is reached. Delete one first.',
    domain_taken: 'A connection of this tenant already has this domain. Remove it there first.',
    domains_exhausted: 'The maximum number of domains is reached. Remove one first.',
    domain_just_checked: 'This domain was checked a few seconds ago. Try again in ten seconds.',
    sign_up_closed:
      'People cannot create accounts with this email address any more: sign-up is closed, or their domain is not accepted or has a connection. Refuse the request, or change the password policy.',
    connection_not_active:
      'No connection is active, so nobody could sign in. Activate one first, then require it.',
    connection_required:
      'This is the only active connection, and the password policy lets only people with emergency access use a password. Change that policy first, or activate another connection.',
    connection_not_tested:
      'This connection has not been tested with its current settings. Sign in with the test link first.',
    webhooks_exhausted: 'The maximum number of webhooks is reached. Delete one first.',
    deliveries_exhausted: 'Too many deliveries are queued for this webhook. Try again later.',
    alerts_exhausted: 'The maximum number of alerts is reached. Delete one first.',
    alert_recipients_exhausted:
      'The maximum number of addresses for alert emails is reached. Remove one, and try again after 7 days.',
    directory_refused: 'The user directory cannot be used with these settings.',
    directory_account_unusable: 'The user directory has missing or conflicting data for this user.',
  },
  410: {
    ticket_spent: 'This link was already used or has expired.',
  },
  413: {
    body_too_large: 'The request body is too large.',
  },
  415: {
    media_type_unsupported: 'Send the body with Content-Type: application/json.',
  },
  429: {
    rate_limited: 'Too many requests. Wait before you try again.',
  },
  500: {
    internal: 'Something went wrong on our side. Quote the request ID when you ask for help.',
  },
  502: {
    ai_provider_refused:
      'The AI provider rejected the request. An operator must check the API key and the model.',
    ai_answer_unusable: 'The AI provider did not return a usable guide. Try again.',
    ai_answer_cut: 'The guide was too long and was cut off. Send fewer files.',
    ai_declined:
      'The model declined to write a guide for these files. service-analyzer works without it.',
    ai_edits_refused: 'The model proposed edits that are not allowed, so its guide was discarded.',
  },
  503: {
    directory_unavailable: "The tenant's user database is not responding. Try again shortly.",
    ai_not_configured: 'No AI provider is configured. service-analyzer works without one.',
    ai_busy: 'Too many analyses are running. Try again shortly.',
    ai_budget_spent: 'The daily budget for analyses is used up. It resets at midnight UTC.',
    ai_unavailable: 'The AI provider is unavailable or overloaded. Try again later.',
    unavailable: 'The service is temporarily unavailable. Try again shortly.',
  },
  504: {
    ai_timeout: 'The AI provider did not finish in time. Send fewer files, or try again later.',
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
