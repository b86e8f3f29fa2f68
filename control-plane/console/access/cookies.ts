/** The cookie of a console session. Over TLS with the prefix that no sibling host can set. */
import {
  clearCookie,
  HOST_PREFIX,
  readCookie,
  setCookie,
} from '../../../shared/enforcement/cookies.ts'
import { SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { CONSOLE_PATH } from '../../tenants/application-home.ts'

const NAME = 'service_console'

export const isSecure = (baseUrl: string) => baseUrl.startsWith('https:')
/** `__Host-` asks for all paths of the host. */
export const cookiePath = (baseUrl: string) => (isSecure(baseUrl) ? '/' : CONSOLE_PATH)
/** Administrators fetch install scripts as files beside the console. */
const sessionPaths = (baseUrl: string) =>
  isSecure(baseUrl) ? [cookiePath(baseUrl)] : [CONSOLE_PATH, '/install']
const nameOf = (baseUrl: string) => (isSecure(baseUrl) ? HOST_PREFIX : '') + NAME

/** Two of the name decide nothing. */
export function readSessionCookie(cookies: string, baseUrl: string): string | undefined {
  const value = readCookie(cookies, nameOf(baseUrl))
  return typeof value === 'string' ? value : undefined
}

/** One for each place that is the console's. */
export const sessionCookies = (id: string, baseUrl: string): string[] =>
  sessionPaths(baseUrl).map((path) =>
    setCookie(nameOf(baseUrl), id, {
      path,
      maxAgeSeconds: LIMITS.consoleSessionMs / SECOND_MS,
      isSecure: isSecure(baseUrl),
    }),
  )

export const clearedSessionCookies = (baseUrl: string): string[] =>
  sessionPaths(baseUrl).map((path) => clearCookie(nameOf(baseUrl), isSecure(baseUrl), path))
