/** Whether the middleware of the contract is there already, and where it is mounted. */
import type { Place } from './application.ts'
import { firstHit, placeAt, type Source } from './source/source.ts'

/** Not where it is defined: there alone it does nothing. */
const USED = /(?<!\b(?:class|func|struct|def|type)\s+)\b(?:ServiceClaims|UseServiceClaims)\b/

/** The most telling files first. */
export function integratedIn(sources: readonly Source[], used = USED): Place | null {
  for (const source of sources) {
    const hit = firstHit(source, used)
    if (hit !== null) return placeAt(source, hit.index)
  }
  return null
}
