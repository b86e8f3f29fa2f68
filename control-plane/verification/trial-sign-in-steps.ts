/** The way in: from a page without a session to a session. */
import { LIMITS } from '../../shared/limits.ts'
import type { AttemptReason } from '../policy/verdict.ts'
import { type CheckResult, resultsOf } from './checks.ts'
import { operatorUrlOf } from './observations.ts'
import { isFrontGuarded, type Trial } from './trial.ts'
import { describePage, leadsTo, type NoPage, type Page } from './trial-browser.ts'

const SESSION_COOKIE = 'service_session'
const probeFirst = ({ baseUrl }: Trial) =>
  `Make the platform's checks pass first: service-analyzer probe (POST ${baseUrl}/api/v1/verify/probe).`

export async function signInStarted(trial: Trial): Promise<CheckResult> {
  const results = resultsOf('sign_in_started')
  const { fail, pass } = results
  const { base, issuer, tenant } = trial
  const loginUrl = `${base}/service/login`
  let start = `${loginUrl}?returnTo=%2F`
  if (isFrontGuarded(trial)) {
    const front = await trial.browser.open(`${base}/`)
    const location = front.kind === 'page' ? front.location : undefined
    if (!leadsTo(location, loginUrl)) return frontOpen(trial, front)
    start = location
  }
  const page = await trial.browser.open(start)
  if (page.kind === 'page' && leadsTo(page.location, issuer)) {
    trial.page = page
    return pass(`${base} redirects visitors without a session to ${issuer}.`)
  }
  if (tenant.licenceBlocksSignin) return licenceBlocks(results, trial)
  const found = `${loginUrl} ${describePage(page)} instead of redirecting to ${issuer}.`
  if (page.kind === 'no_page') return fail(found, probeFirst(trial))
  if (page.status >= 500) {
    const whose = tenant.mode === 'sdk' ? 'application' : 'gateway'
    const discovery = `${issuer}/.well-known/openid-configuration`
    return fail(
      found,
      `Let the ${whose} reach the realm; from its machine this must return 200: curl -i ${discovery}`,
    )
  }
  return fail(
    found,
    tenant.mode === 'sdk'
      ? `Mount enforce() in front of all routes, /service/login included, as the snippets in ${trial.baseUrl}/api/v1/contract show.`
      : probeFirst(trial),
  )
}

function frontOpen(trial: Trial, front: Page | NoPage): CheckResult {
  const { fail } = resultsOf('sign_in_started')
  const { base, tenant } = trial
  const found = `${base}/ ${describePage(front)}, although protection is on and nobody is signed in.`
  if (front.kind === 'no_page') return fail(found, probeFirst(trial))
  if (tenant.sealed.includes('/'))
    return fail(
      `${base}/ ${describePage(front)}: the path / is sealed, and with it every other.`,
      `Ask the operator to seal fewer paths: PATCH ${operatorUrlOf({ baseUrl: trial.baseUrl, tenantId: tenant.tenantId })} with {"sealed": ["/internal"]}.`,
    )
  return fail(
    found,
    tenant.mode === 'sdk'
      ? `Mount enforce() in front of the route of the front page too, and make feed_polled pass: curl -i -H 'Accept: text/html' ${base}/ must lead to /service/login.`
      : `Make hostname_routed and sealed_hidden pass; then curl -i -H 'Accept: text/html' ${base}/ must lead to /service/login.`,
  )
}

function licenceBlocks(
  { fail }: ReturnType<typeof resultsOf>,
  { baseUrl, tenant }: Trial,
): CheckResult {
  const { tenantId, licence } = tenant
  return fail(
    `The license (${licence}) blocks sign-ins, so the sign-in page only says that.`,
    `Ask the operator to renew it: PUT ${operatorUrlOf({ baseUrl, tenantId })}/licence with {"state": "active"}.`,
  )
}

export async function signInPageShown(trial: Trial): Promise<CheckResult> {
  const results = resultsOf('sign_in_page_shown')
  const { fail, pass } = results
  const { base, issuer, tenant, page: start } = trial
  const callback = `${base}/service/callback`
  const asked = new URL(start?.location ?? issuer).searchParams.get('redirect_uri')
  if (asked !== callback)
    return fail(
      `The sign-in would return to ${asked ?? 'nowhere'}, but only ${callback} is registered.`,
      tenant.mode === 'sdk'
        ? `Start the middleware with the public address ${base}, or ask the operator to correct "origin": PATCH ${operatorUrlOf({ baseUrl: trial.baseUrl, tenantId: tenant.tenantId })}.`
        : 'Set edge_url in the configuration of the control plane to the address that browsers use.',
    )
  // a middleware of before the enforcers refused it themselves
  if (tenant.licenceBlocksSignin) return licenceBlocks(results, trial)
  const page = await goOn(trial, start, issuer)
  if (page?.kind === 'page' && page.status === 200 && formOf(page) !== undefined) {
    trial.page = page
    return pass(`${issuer} shows the sign-in page.`)
  }
  if (page === undefined || page.kind === 'no_page')
    return fail(
      `${issuer} ${page === undefined ? 'redirects nowhere' : describePage(page)}.`,
      `Let the control plane reach its own base_url; from its machine this must return 200: curl -i ${issuer}/.well-known/openid-configuration`,
    )
  return fail(
    `${issuer} shows no form for username and password: it ${describePage(page)}.`,
    `Open ${base}/service/login in a browser: the page explains the problem, with a request ID for the operator.`,
  )
}

/** What only a person, a device or a place can bring along. */
const NEEDS_A_PERSON: Partial<Record<AttemptReason, string>> = {
  second_factor_needed: 'the policy requires a second factor, which only a real person has',
  enrolment_needed: 'the policy requires a second factor, which only a real person has',
  device_proof_needed: 'the device policy only allows enrolled devices',
  device_not_enrolled: 'the device policy only allows enrolled devices',
  network_denied: 'the network policy blocks the address of the service itself',
  network_not_allowed: 'the network policy does not allow the address of the service itself',
}

export async function signInCompleted(trial: Trial): Promise<CheckResult> {
  const { fail, pass, skip } = resultsOf('sign_in_completed')
  const { base, issuer, page: shown, tenant } = trial
  if (trial.hasDirectory)
    return skip(
      "Not tried: the users are in the tenant's own database, where the service cannot add a test user. Sign in once yourself.",
    )
  const form = shown && formOf(shown)
  if (shown === undefined || !leadsTo(form, issuer))
    return fail('The form of the sign-in page submits to another address.', probeFirst(trial))
  trial.person = await trial.people.create(tenant.tenantId)
  const { username, password } = trial.person
  const answered = await trial.browser.open(form, { username, password })
  const reached = await goOn(trial, answered, issuer)
  const callback = reached?.kind === 'page' ? reached.location : undefined
  if (!leadsTo(callback, `${base}/service/callback`)) return refused(trial, reached)
  const back = await trial.browser.open(callback)
  const hasSession = trial.browser.cookie(`${base}/`, SESSION_COOKIE) !== undefined
  if (back.kind === 'page' && leadsTo(back.location, base) && hasSession) {
    trial.page = back
    return pass(`A sign-in comes back to ${base} with a session.`)
  }
  const discovery = `${issuer}/.well-known/openid-configuration`
  return fail(
    `${base}/service/callback ${describePage(back)}${hasSession ? '' : ', without a session cookie'}.`,
    tenant.mode === 'sdk'
      ? `Give the application the client secret of this tenant (SERVICE_CLIENT_SECRET), and let it reach the realm: curl -i ${discovery} from its machine.`
      : `Let the gateway reach the realm, from its machine this must return 200: curl -i ${discovery}`,
  )
}

async function refused(trial: Trial, page: Page | NoPage | undefined): Promise<CheckResult> {
  const { fail, skip } = resultsOf('sign_in_completed')
  const { person, tenant, baseUrl } = trial
  const reason = person && (await trial.people.outcomeOf(person))
  const need = reason === undefined || reason === 'signed_in' ? undefined : NEEDS_A_PERSON[reason]
  if (need !== undefined) return skip(`Not tried to the end: ${need}. Sign in once yourself.`)
  const operatorUrl = operatorUrlOf({ baseUrl, tenantId: tenant.tenantId })
  if (reason === 'address_blocked' || reason === 'user_paused')
    return fail(
      'Too many failed sign-ins came from the address of the service itself, so it is blocked.',
      `Wait for the block to end, or ask the operator to lift it: see ${operatorUrl}/address-blocks.`,
    )
  return fail(
    `The correct password was not enough: the sign-in page ${page === undefined ? 'redirects in a loop' : describePage(page)}${reason === undefined ? '' : ` (${reason})`}.`,
    `Open ${trial.base}/service/login in a browser and sign in: the page explains the problem, with a request ID for the operator.`,
  )
}

/** Follows redirects as long as they stay under `within`; undefined: they never end. */
export async function goOn(
  { browser }: Trial,
  start: Page | NoPage | undefined,
  within: string,
): Promise<Page | NoPage | undefined> {
  let page = start
  for (let hops = 0; hops <= LIMITS.signInTrialRedirectsMax; hops++) {
    if (page?.kind !== 'page' || !leadsTo(page.location, within)) return page
    page = await browser.open(page.location)
  }
  return undefined
}

/** Where the form for name and password goes. It is a page of ours, so its shape is known. */
function formOf({ text, url }: Page): string | undefined {
  const form = /<form\b[^>]*>[\s\S]*?<\/form>/.exec(text.replaceAll(/<!--[\s\S]*?-->/g, ''))?.[0]
  if (form === undefined || !/\bname="username"/.test(form) || !/\bname="password"/.test(form))
    return undefined
  const action = /\baction="([^"]*)"/.exec(form)?.[1]?.replaceAll('&amp;', '&')
  return action !== undefined && URL.canParse(action, url) ? new URL(action, url).href : undefined
}
