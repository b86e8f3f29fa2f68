/**
 * Does whoever signed in want to sign out? Any page can make a browser ask for `/service/logout`: with an
 * image, a frame, a link on a sibling host, a prerender. What proves nothing gets a page with a button.
 */
import { isNavigation } from '../enforcement/navigation.ts'
import type { Visit } from './visit.ts'

export function isLogoutMeant(visit: Visit): boolean {
  if (isAhead(visit)) return false
  return visit.head.method === 'POST' ? isOwnForm(visit) : isOwnNavigation(visit)
}

function isOwnForm(visit: Visit): boolean {
  const { secFetchSite } = visit.head
  if (secFetchSite !== '') return isOwnSite(secFetchSite)
  return visit.isOwnPage(visit.header('origin')) // programs send none
}

function isOwnNavigation(visit: Visit): boolean {
  const { head } = visit
  if (!isNavigation(head)) return false
  const [destination = 'document', ...others] = visit.header('sec-fetch-dest')
  if (destination !== 'document' || others.length > 0) return false
  if (head.secFetchSite !== '') return isOwnSite(head.secFetchSite)
  // every browser that sends one of the two sends both: this is a program
  if (head.secFetchMode !== '') return true
  // an old browser, or plain http, where browsers say neither
  const referers = visit.header('referer')
  return referers.length > 0 && visit.isOwnPage(referers.map(originOf))
}

/** `none`: an address that was typed, or a bookmark. */
const isOwnSite = (secFetchSite: string) =>
  secFetchSite === 'same-origin' || secFetchSite === 'none'

/** A browser that thinks the person might go there next. */
function isAhead(visit: Visit): boolean {
  return ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) =>
    visit.header(name).some((value) => /\b(?:prefetch|prerender|preview)\b/i.test(value)),
  )
}

const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : 'null')
