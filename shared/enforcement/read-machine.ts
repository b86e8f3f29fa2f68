/**
 * From the lines that a machine brings to the service that it is, or the reason why it is none: an id
 * with a secret, or a token that its realm gave it for them. Wrong ones are counted by address, so that
 * whoever brings too many is told so. A right one comes in whatever its neighbours do: machines of a
 * cloud share their address with anybody, and a secret of 256 bits is found by nobody who may look as
 * often as they like.
 */
import { countedAs } from '../client-address.ts'
import type { Clock } from '../clock.ts'
import { LIMITS } from '../limits.ts'
import { createRateLimits } from '../rate-limits.ts'
import type { MachineReason } from '../reasons.ts'
import { readCookie, SESSION_COOKIE } from './cookies.ts'
import type { MachineBrings, MachineVerdict } from './decide.ts'
import {
  bearerOf,
  isAhead,
  isBearerScheme,
  namesIssuer,
  proveMachineToken,
  type MachineTokenClaims,
} from './machine-token.ts'
import type { KnownMachine, MachineCredentials, ServiceJudge } from './machines.ts'
import type { ProvenSession, SessionReader } from './read-session.ts'
import { TokenProofs, type TokenProof } from './token-proofs.ts'
import type { TokenTrust } from './token.ts'

interface MachineLines {
  /** Null, undefined: neither its id nor its secret came. */
  readonly machine: MachineCredentials | null | undefined
  /** All lines of that name, joined with `, `; '' without any. */
  readonly authorization: string
  readonly tenant: { readonly trust: TokenTrust }
}

interface MachineRequest extends MachineLines {
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
const NO_CREDENTIALS = { ids: [], secrets: [] }
/** Guesses: all else says of its sender that it has had the secret. */
const COUNTED: ReadonlySet<MachineReason> = new Set([
  'machine_malformed',
  'machine_unknown',
  'machine_token_invalid',
])

export function createMachineReader<Carried>(world: {
  readonly sessions: Pick<SessionReader<Carried>, 'prove'>
  readonly clock: Clock
}) {
  const { sessions, clock } = world
  const rates = createRateLimits(clock)
  const proofs = new TokenProofs<TokenProof<MachineTokenClaims>, MachineTokenClaims>(
    LIMITS.serviceTokensRememberedMax,
    proveMachineToken,
    (proof) => proof,
  )

  function brings({ machine, authorization, tenant }: MachineLines): MachineBrings {
    if (authorization !== '' && isOfRealm(authorization, tenant.trust)) return 'token'
    return machine == null ? undefined : 'secret'
  }

  function isOfRealm(authorization: string, trust: TokenTrust): boolean {
    return (
      remembered(authorization, trust) !== undefined || namesIssuer(authorization, trust.issuer)
    )
  }

  /** The proof of a machine that sends what it sent before: nothing is taken apart again. */
  function remembered(authorization: string, trust: TokenTrust) {
    const proof = proofs.endingAt(authorization, authorization.length)
    if (proof === undefined || proof.trust !== trust) return undefined
    const at = authorization.length - proof.token.length
    // a slice is compared as bytes; `endsWith` costs eight times as much as all else here
    if (at < 0 || authorization.slice(at) !== proof.token) return undefined
    const scheme = authorization.slice(0, at)
    return scheme === 'Bearer ' || isBearerScheme(scheme) ? proof : undefined
  }

  function prove(authorization: string, trust: TokenTrust) {
    const token = bearerOf(authorization)
    return token === undefined ? 'token_malformed' : proofs.prove(token, trust)
  }

  function byToken(
    { machine, authorization, nowSeconds, tenant: { trust } }: MachineRequest,
    services: ServiceJudge,
  ): KnownMachine | MachineReason | 'key_unknown' {
    if (machine != null || authorization.includes(',')) return 'machine_token_ambiguous'
    const proof = remembered(authorization, trust) ?? prove(authorization, trust)
    if (proof === 'key_unknown') return proof
    if (typeof proof === 'string') return 'machine_token_invalid'
    const { claims } = proof
    if (isAhead(claims, nowSeconds)) return 'machine_token_invalid'
    const { serviceId, secretId, exp: tokenEndsAt } = claims
    return services.admit({ serviceId, secretId, tokenEndsAt }, nowSeconds)
  }

  function counted(reason: MachineReason, { tenant, clientAddress }: MachineRequest) {
    if (!COUNTED.has(reason)) return reason
    const whose = `${tenant.tenantId} ${countedAs(clientAddress)}`
    const waitSeconds = rates.waitSeconds('machines', whose, LIMITS.rateServiceFailures)
    return waitSeconds === undefined ? reason : 'machine_rate_limited'
  }

  return {
    brings,
    read(request: MachineRequest): MachineVerdict<ProvenSession<Carried>> {
      const { tenant, cookies, nowSeconds } = request
      const { services } = tenant
      if (services === undefined) return NO_SERVICES
      const isToken = brings(request) === 'token'
      // a person and a machine at once: whose request it is nobody can say
      if (readCookie(cookies, SESSION_COOKIE) !== undefined)
        return {
          kind: 'refused',
          reason: isToken ? 'machine_token_ambiguous' : 'machine_with_session',
        }
      const known = isToken
        ? byToken(request, services)
        : services.know(request.machine ?? NO_CREDENTIALS, nowSeconds)
      // a key may be replaced while its tokens are about: nobody has guessed
      if (known === 'key_unknown')
        return { kind: 'refused', reason: 'machine_token_invalid', isKeyUnknown: true }
      if (typeof known === 'string') return { kind: 'refused', reason: counted(known, request) }
      const session = sessions.prove(known.identity, tenant)
      // the control plane has been gone for so long that applications would not believe it
      if (typeof session === 'string' || session.claims.exp <= nowSeconds)
        return { kind: 'refused', reason: 'state_lost' }
      return { kind: 'known', session, pass: known.pass }
    },
  }
}
