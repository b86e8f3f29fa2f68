/** What a session is worth, and that it ends. */
import { LIMITS } from '../../shared/limits.ts'
import { type CheckResult, resultsOf } from './checks.ts'
import { isFrontGuarded, signOutMsMax, type Trial } from './trial.ts'
import { describePage, leadsTo, type NoPage, type Page } from './trial-browser.ts'
import { goOn } from './trial-sign-in-steps.ts'

const LOOK_AGAIN_MS = 250

export async function identityReceived(trial: Trial): Promise<CheckResult> {
  const { fail, pass, warn } = resultsOf('identity_received')
  const { base, baseUrl } = trial
  const page = await trial.browser.open(trial.page?.location ?? `${base}/`)
  const found = `With a session, ${page.url} ${describePage(page)}.`
  if (page.kind === 'no_page')
    return fail(found, `Check the log of the application: curl -v ${base}/`)
  if (isSentToSignIn(trial, page))
    return fail(
      `${found} So the application does not accept the new session.`,
      `Run service-analyzer probe: application_reached shows whether a clock is off, key_installed whether a key is missing (POST ${baseUrl}/api/v1/verify/probe).`,
    )
  if (page.status === 401 || page.status === 403)
    return fail(
      found,
      `Make the application accept the user in X-Service-Claims, as the snippets in ${baseUrl}/api/v1/contract show. Users it has not seen before must be accepted or created.`,
    )
  if (page.status >= 500)
    return fail(found, 'Check the log of the application: it fails for a signed-in user.')
  if (page.status === 404)
    return warn(
      found,
      `Serve a page at /: people arrive there after signing in (curl -i ${base}/).`,
    )
  return pass(found)
}

export async function signedOut(trial: Trial): Promise<CheckResult> {
  const { fail, pass } = resultsOf('signed_out')
  const { base, issuer, browser } = trial
  const old = browser.copy()
  const logoutUrl = `${base}/service/logout`
  const left = await goOn(trial, await browser.open(logoutUrl), issuer)
  const isDone = left?.kind === 'page' && left.status < 400
  if (!isDone || browser.cookie(`${base}/`, 'service_session') !== undefined)
    return fail(
      `${logoutUrl} ${left === undefined ? 'redirects in a loop' : describePage(left)}${isDone ? ', and leaves the session cookie in the browser' : ''}.`,
      `Make sure nothing in front of /service/* answers it or changes its cookies: curl -i ${logoutUrl}`,
    )
  const isRefused = isFrontGuarded(trial)
    ? async () => isWithoutSession(trial, await old.open(`${base}/`))
    : async () => trial.person === undefined || !(await trial.people.isSignedIn(trial.person))
  if (await becomesTrue(trial, isRefused))
    return pass(
      isFrontGuarded(trial)
        ? 'After the sign-out the old session is refused.'
        : 'After the sign-out the session has ended. (The front page is open to everyone, so nothing was refused.)',
    )
  return fail(
    `The old session still opened ${base}/ some seconds after the sign-out.`,
    trial.tenant.mode === 'sdk'
      ? 'Make feed_polled pass: an instance that does not poll never learns about ended sessions.'
      : `Check that every gateway is connected and up to date: ${trial.baseUrl}/api/v1/operator/gateways.`,
  )
}

/** Everywhere soon is not at once: other gateways and instances hear of it a moment later. */
async function becomesTrue(trial: Trial, isTrue: () => Promise<boolean>): Promise<boolean> {
  const looks = Math.ceil(signOutMsMax(trial, LIMITS.signOutSeenMsMax) / LOOK_AGAIN_MS)
  for (let look = 0; look < looks; look++) {
    if (await isTrue()) return true
    await trial.wait(LOOK_AGAIN_MS)
  }
  return isTrue()
}

function isSentToSignIn({ base }: Trial, page: Page): boolean {
  return leadsTo(page.location, `${base}/service/login`)
}

function isWithoutSession(trial: Trial, page: Page | NoPage): boolean {
  return page.kind === 'page' && (page.status === 401 || isSentToSignIn(trial, page))
}
