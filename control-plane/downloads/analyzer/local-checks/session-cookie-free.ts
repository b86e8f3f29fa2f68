/** Whether the application sets no cookie by the names that the service's sessions go by. */
import { resultsOf } from '../../../../shared/integration/check-result.ts'
import { foundInCode } from './code-files.ts'
import type { LocalCheck } from './looked-at.ts'

const { fail, pass } = resultsOf('session_cookie_free')
const NAME = String.raw`['"\x60]?(?<cookie>service_session|(?:__Host-)?service_seen)\b`
/** Reading `service_session` is what the contract offers; setting it is not. */
const SETTING: readonly RegExp[] = [
  // name: 'service_session', key: …, cookieName = …, SESSION_COOKIE_NAME = …, cookie.name=…
  new RegExp(
    String.raw`\b(?:name|key|cookie|cookie_?name|session_cookie(?:_name)?|cookie\.name)['"]?\s*(?:=>|[:=])\s*${NAME}`,
    'gi',
  ),
  new RegExp(
    String.raw`\b(?:cookie|setCookie|set_cookie|clearCookie|SetCookie|Append|AddCookie)\(\s*(?:\w+\s*,\s*)?${NAME}`,
    'g',
  ),
  new RegExp(String.raw`\bcookies?(?:\(\))?\.(?:set|put|append|signed)\(\s*${NAME}`, 'gi'),
  new RegExp(String.raw`\benv\(\s*['"]SESSION_COOKIE['"]\s*,\s*${NAME}`, 'g'),
  new RegExp(String.raw`\bcookies(?:\.\w+)*\[:?${NAME}['"]?\]\s*=[^=]`, 'g'),
]

export const sessionCookieFree: LocalCheck = async (at) => {
  for await (const { place, match } of foundInCode(at, SETTING))
    return fail(
      `${place} sets a cookie ${match.groups?.['cookie']}: it overwrites the cookie of the service and signs everyone out.`,
      'Give that cookie another name, for example app_session.',
    )
  return pass('The application sets neither service_session nor service_seen.')
}
