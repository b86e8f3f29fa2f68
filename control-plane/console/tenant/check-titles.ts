/** What the checks are called where people read them. */
const TITLES: Readonly<Record<string, string>> = {
  hostname_routed: 'The hostname leads to the gateway',
  application_reached: 'The application answers',
  middleware_mounted: 'The middleware is mounted',
  key_installed: 'The application knows the key',
  feed_polled: 'The application polls its state',
  sealed_hidden: 'Sealed paths are hidden',
  sign_in_started: 'Who is not signed in is sent to sign in',
  sign_in_page_shown: 'The sign-in page is shown',
  sign_in_completed: 'A sign-in comes back with a session',
  identity_received: 'The application is told who it is',
  signed_out: 'A sign-out ends the session',
}

/** What the tool calls a check of its own is free: `health_path` → «Health path». */
export function checkTitle(check: string): string {
  const words = check.replaceAll('_', ' ')
  return TITLES[check] ?? words.charAt(0).toUpperCase() + words.slice(1)
}
