/** One request as the sign-in and the session reader see it; it keeps the state that it began with. */
import { isOwnOrigin } from '../../../../shared/enforcement/own-origin.ts'
import type { RevokedView } from '../../../../shared/enforcement/session.ts'
import type { Visit } from '../../../../shared/sign-in/visit.ts'
import type { RequestFacts } from './request-facts.ts'
import type { EnforcedTenant } from './state.ts'

export class Visitor implements Visit {
  readonly head: RequestFacts
  readonly tenant: EnforcedTenant
  readonly revoked: RevokedView
  readonly clientAddress: string
  readonly nowSeconds: number
  readonly path: string
  readonly query: string
  /** Whoever is at the other end of the connection; `clientAddress` may be another. */
  readonly peer: string

  constructor(
    head: RequestFacts,
    tenant: EnforcedTenant,
    revoked: RevokedView,
    clientAddress: string,
    nowSeconds: number,
    peer: string,
  ) {
    const queryAt = head.target.indexOf('?')
    this.head = head
    this.tenant = tenant
    this.revoked = revoked
    this.clientAddress = clientAddress
    this.nowSeconds = nowSeconds
    this.peer = peer
    this.path = queryAt === -1 ? head.target : head.target.slice(0, queryAt)
    this.query = queryAt === -1 ? '' : head.target.slice(queryAt + 1)
  }

  get cookies(): string {
    return this.head.cookies
  }

  get userAgent(): string {
    return this.head.userAgent
  }

  get edgeUrl(): string {
    return this.tenant.origin
  }

  get isCookieSecure(): boolean {
    return this.tenant.origin.startsWith('https:')
  }

  header(name: string): readonly string[] {
    const { rawHeaders } = this.head
    return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name)
  }

  isOwnPage(origins: readonly string[]): boolean {
    const { authority } = this.head
    const protocol = this.isCookieSecure ? 'https' : 'http'
    return isOwnOrigin({ origins, authority, protocol, edgeUrls: [this.edgeUrl] })
  }

  /** The same request under another state of the tenant. */
  under(tenant: EnforcedTenant): Visitor {
    const { head, revoked, clientAddress, nowSeconds, peer } = this
    return new Visitor(head, tenant, revoked, clientAddress, nowSeconds, peer)
  }
}
