/**
 * From the lines that a machine brings to the service that it is, or the reason why it is none. Wrong
 * ones are counted by address, so that whoever brings too many is told so. A right one comes in
 * whatever its neighbours do: machines of a cloud share their address with anybody, and a secret of
 * 256 bits is found by nobody who may look as often as they like.
 */
import { countedAs } from '../client-address.ts'
import type { Clock } from '../clock.ts'
import { LIMITS } from '../limits.ts'
import { createRateLimits } from '../rate-limits.ts'
import type { MachineReason } from '../reasons.ts'
import { readCookie, SESSION_COOKIE } from './cookies.ts'
import type { MachineVerdict } from './decide.ts'
import type { MachineCredentials, ServiceJudge } from './machines.ts'
import type { ProvenSession, SessionReader } from './read-session.ts'
import type { TokenTrust } from './token.ts'

interface MachineRequest {
  readonly machine: MachineCredentials
  readonly cookies: string
  readonly clientAddress: string
  readonly nowSeconds: number
  readonly tenant: {
    readonly tenantId: string
    readonly services: ServiceJudge | undefined
    readonly trust: TokenTrust
  }
}

export type MachineReader<Carried = unknown> = ReturnType<typeof createMachineReader<Carried>>

const NO_SERVICES = { kind: 'refused', reason: 'machine_unknown' } as const
/** Guesses: all else says of its sender that it has had the secret. */
const COUNTED: ReadonlySet<MachineReason> = new Set(['machine_malformed', 'machine_unknown'])

export function createMachineReader<Carried>(world: {
  readonly sessions: Pick<SessionReader<Carried>, 'prove'>
  readonly clock: Clock
}) {
  const { sessions, clock } = world
  const rates = createRateLimits(clock)

  function counted(reason: MachineReason, { tenant, clientAddress }: MachineRequest) {
    if (!COUNTED.has(reason)) return reason
    const whose = `${tenant.tenantId} ${countedAs(clientAddress)}`
    const waitSeconds = rates.waitSeconds('machines', whose, LIMITS.rateServiceFailures)
    return waitSeconds === undefined ? reason : 'machine_rate_limited'
  }

  return {
    read(request: MachineRequest): MachineVerdict<ProvenSession<Carried>> {
      const { machine, tenant, cookies, nowSeconds } = request
      const { services } = tenant
      if (services === undefined) return NO_SERVICES
      // a person and a machine at once: whose request it is nobody can say
      if (readCookie(cookies, SESSION_COOKIE) !== undefined)
        return { kind: 'refused', reason: 'machine_with_session' }
      const known = services.know(machine, nowSeconds)
      if (typeof known === 'string') return { kind: 'refused', reason: counted(known, request) }
      const session = sessions.prove(known.identity, tenant)
      // the control plane has been gone for so long that applications would not believe it
      if (typeof session === 'string' || session.claims.exp <= nowSeconds)
        return { kind: 'refused', reason: 'state_lost' }
      return { kind: 'known', session, pass: known.pass }
    },
  }
}
