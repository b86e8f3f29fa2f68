/** Whom a session names, and when it was last in use here: what stays open without use is idle. */
import type { TokenClaims } from '../../../../shared/enforcement/token.ts'
import type { Identity } from '../guard.ts'

export class Admission implements Identity {
  readonly token: string
  readonly claims: TokenClaims
  usedSeconds = 0
  groups: readonly string[] | undefined = undefined

  constructor(token: string, claims: TokenClaims) {
    this.token = token
    this.claims = claims
  }
}
