/** What the checks are called where people read them. */
const TITLES: Readonly<Record<string, string>> = {
  hostname_routed: 'Hostname points to the gateway',
  application_reached: 'Application responds',
  middleware_mounted: 'Middleware is mounted',
  listeners_guarded: 'No other listener is open',
  websockets_guarded: 'WebSockets require sign-in',
  key_installed: 'Application has the public key',
  feed_polled: 'Application polls for updates',
  sealed_hidden: 'Sealed paths return 404',
  sign_in_started: 'Visitors are sent to sign in',
  sign_in_page_shown: 'Sign-in page loads',
  sign_in_completed: 'Sign-in creates a session',
  identity_received: 'Application receives the user’s identity',
  signed_out: 'Sign-out ends the session',
}

/** What the tool calls a check of its own is free: `health_path` → «Health path». */
export function checkTitle(check: string): string {
  const words = check.replaceAll('_', ' ')
  return TITLES[check] ?? words.charAt(0).toUpperCase() + words.slice(1)
}
