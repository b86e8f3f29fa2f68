/**
 * Is this a person who opens a page (who can be sent to a sign-in page), or a script, an API client
 * or a WebSocket (which needs a 401 that it can read)? oauth2-proxy 1522, envoy 30102.
 */
export interface NavigationFacts {
  readonly method: string
  readonly secFetchMode: string
  readonly accept: string
  readonly requestedWith: string
  readonly isUpgrade: boolean
}

export function isNavigation(facts: NavigationFacts): boolean {
  if (facts.isUpgrade) return false
  if (facts.secFetchMode !== '') return facts.secFetchMode === 'navigate'
  if (facts.method !== 'GET' && facts.method !== 'HEAD') return false
  return facts.requestedWith === '' && /\btext\/html\b/i.test(facts.accept)
}
