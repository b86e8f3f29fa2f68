/** Whether the middleware of the contract is there already, and where it is mounted. */
import type { Place } from './application.ts'
import { firstHit, placeAt, type Source } from './source/source.ts'

/** Not where it is defined: there alone it does nothing. */
const NAMED = /(?<!\b(?:class|func|struct|def|type)\s+)\b(?:ServiceClaims|UseServiceClaims)\b/
/** Flask asks a function, imported or pasted, before each request. */
const ASKED = /\.before_request\(\s*sign_in\s*\)|@\w+\.before_request\s+def sign_in\b/
const USED = new RegExp(`${NAMED.source}|${ASKED.source}`)

/** The most telling files first. */
export function integratedIn(sources: readonly Source[], used = USED): Place | null {
  for (const source of sources) {
    const hit = firstHit(source, used)
    if (hit !== null) return placeAt(source, hit.index)
  }
  return null
}
