/** One request as the sign-in and the session reader see it; it keeps the state that it began with. */
import type {
  Judged,
  MachineBrings,
  MachineVerdict,
  SessionVerdict,
} from '../../../../shared/enforcement/decide.ts'
import { isSameNetwork } from '../../../../shared/enforcement/fingerprint.ts'
import { METHOD_OVERRIDES } from '../../../../shared/enforcement/foreign-headers.ts'
import { isNavigation } from '../../../../shared/enforcement/navigation.ts'
import { isOwnOrigin } from '../../../../shared/enforcement/own-origin.ts'
import type { MachineReader } from '../../../../shared/enforcement/read-machine.ts'
import type { ProvenSession, SessionReader } from '../../../../shared/enforcement/read-session.ts'
import type { RevokedView } from '../../../../shared/enforcement/session.ts'
import type { ServiceRequest } from '../../../../shared/sign-in/service-request.ts'
import type { Admission } from './admission.ts'
import { valuesOf, type RequestFacts } from './request-facts.ts'
import type { EnforcedTenant } from './state.ts'

export type Session = ProvenSession<Admission>

export interface EnforcedRequestWorld {
  readonly sessions: SessionReader<Admission>
  readonly machines: MachineReader<Admission>
  readonly revoked: RevokedView
  isStateLost(): boolean
}

/** A request as it came, whatever state it is judged by. */
interface Arrived {
  readonly head: RequestFacts
  readonly clientAddress: string
  readonly peer: string
  readonly nowSeconds: number
}

export class EnforcedRequest implements ServiceRequest, Judged<Session> {
  readonly head: RequestFacts
  readonly tenant: EnforcedTenant
  readonly revoked: RevokedView
  readonly clientAddress: string
  readonly nowSeconds: number
  readonly path: string
  readonly query: string
  /** Whoever is at the other end of the connection; `clientAddress` may be another. */
  readonly peer: string
  readonly #arrived: Arrived
  readonly #world: EnforcedRequestWorld

  constructor(arrived: Arrived, tenant: EnforcedTenant, world: EnforcedRequestWorld) {
    const { head } = arrived
    const queryAt = head.target.indexOf('?')
    this.head = head
    this.tenant = tenant
    this.revoked = world.revoked
    this.clientAddress = arrived.clientAddress
    this.nowSeconds = arrived.nowSeconds
    this.peer = arrived.peer
    this.path = queryAt === -1 ? head.target : head.target.slice(0, queryAt)
    this.query = queryAt === -1 ? '' : head.target.slice(queryAt + 1)
    this.#arrived = arrived
    this.#world = world
  }

  /** As the tenant names it: whoever asks may write into Host what they like. */
  get host(): string {
    return this.tenant.host
  }

  get method(): string {
    return this.head.method
  }

  get methodOverrides(): readonly string[] {
    return METHOD_OVERRIDES.flatMap((name) => this.header(name))
  }

  get isNavigation(): boolean {
    return isNavigation(this.head)
  }

  get isUpgrade(): boolean {
    return this.head.isUpgrade
  }

  get isFromOwnOrigin(): boolean {
    return this.isOwnPage(this.head.origins)
  }

  get isStateLost(): boolean {
    return this.#world.isStateLost()
  }

  get isNetworkUnknown(): boolean {
    const { binding } = this.tenant.sessionRules
    return binding !== 'off' && !isSameNetwork(this.clientAddress, this.clientAddress)
  }

  readSession(): SessionVerdict<Session> {
    return this.#world.sessions.read(this)
  }

  get machineBrings(): MachineBrings {
    const { machine, authorization } = this.head
    return this.#world.machines.brings({ machine, authorization, tenant: this.tenant })
  }

  readMachine(): MachineVerdict<Session> {
    const { machine, authorization } = this.head
    const { cookies, clientAddress, nowSeconds, tenant } = this
    const asked = { cookies, clientAddress, nowSeconds, tenant }
    return this.#world.machines.read({ machine, authorization, ...asked })
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
    return valuesOf(this.head, name)
  }

  isOwnPage(origins: readonly string[]): boolean {
    const { authority } = this.head
    const protocol = this.isCookieSecure ? 'https' : 'http'
    return isOwnOrigin({ origins, authority, protocol, own: this.tenant.origins })
  }

  /** The same request under another state of the tenant. */
  under(tenant: EnforcedTenant): EnforcedRequest {
    return new EnforcedRequest(this.#arrived, tenant, this.#world)
  }
}
