/** Where the application of a realm is, by where its sign-ins return to. */

export const CONSOLE_PATH = '/console'
export const CONSOLE_CALLBACK_PATH = `${CONSOLE_PATH}/callback`

/** What people know as the application: `https://app.example.com/`, or the console. */
export function applicationHomeOf(redirectUri: string): string {
  const { pathname } = new URL(redirectUri)
  return new URL(pathname === CONSOLE_CALLBACK_PATH ? CONSOLE_PATH : '/', redirectUri).href
}
