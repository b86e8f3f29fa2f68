/**
 * Does whoever signed in want to sign out? Any page can make a browser ask for `/service/logout`: with an
 * image, a frame, a link on a sibling host, a prerender. What proves nothing gets a page with a button.
 */
import { isNavigation } from '../enforcement/navigation.ts'
import { writtenOrigin } from '../enforcement/own-origin.ts'
import type { ServiceRequest } from './service-request.ts'

export function isLogoutMeant(request: ServiceRequest): boolean {
  if (isAhead(request)) return false
  return request.head.method === 'POST' ? isOwnForm(request) : isOwnNavigation(request)
}

function isOwnForm(request: ServiceRequest): boolean {
  const { secFetchSite } = request.head
  if (secFetchSite !== '') return isOwnSite(secFetchSite)
  return request.isOwnPage(request.header('origin')) // programs send none
}

function isOwnNavigation(request: ServiceRequest): boolean {
  const { head } = request
  if (!isNavigation(head)) return false
  const [destination = 'document', ...others] = request.header('sec-fetch-dest')
  if (destination !== 'document' || others.length > 0) return false
  if (head.secFetchSite !== '') return isOwnSite(head.secFetchSite)
  // every browser that sends one of the two sends both: this is a program
  if (head.secFetchMode !== '') return true
  // an old browser, or plain http, where browsers say neither
  const referers = request.header('referer')
  return referers.length > 0 && request.isOwnPage(referers.map(writtenOrigin))
}

/** `none`: an address that was typed, or a bookmark. */
const isOwnSite = (secFetchSite: string) =>
  secFetchSite === 'same-origin' || secFetchSite === 'none'

/** A browser that thinks the person might go there next. */
function isAhead(request: ServiceRequest): boolean {
  return ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) =>
    request.header(name).some((value) => /\b(?:prefetch|prerender|preview)\b/i.test(value)),
  )
}
