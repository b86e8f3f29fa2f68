/**
 * Is this a machine that may come in? Pure. It is known by an id and a secret, of which we have the
 * hash; a secret that is right, alive and of a service that is not disabled names the service, and
 * access rules say what it may open (.docs/decisions/0079-machines.md).
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { SERVICE_ID } from '../fleet/access-rules.ts'
import type { EnforcedServices } from '../fleet/services.ts'
import type { MachineReason } from '../reasons.ts'

/** What a request says of the machine that sends it: each value as it came. */
export interface MachineCredentials {
  readonly ids: readonly string[]
  readonly secrets: readonly string[]
}

/** By which secret of which service something was let in. */
export interface MachinePass {
  readonly serviceId: string
  readonly secretId: string
  /** Where it brought a token in its place: until when that is good, in epoch seconds. */
  readonly tokenEndsAt?: number
}

export interface KnownMachine {
  readonly pass: MachinePass
  /** The token that names it to the application. */
  readonly identity: string
}

export interface ServiceJudge {
  know(credentials: MachineCredentials, nowSeconds: number): KnownMachine | MachineReason
  /** One whose token holds. */
  admit(pass: MachinePass, nowSeconds: number): KnownMachine | MachineReason
  /** Of one that was let in before: why it would not be now. */
  standing(pass: MachinePass, nowSeconds: number): MachineReason | undefined
}

interface Secret {
  readonly secretId: string
  readonly hash: Buffer
  readonly endsAt: number
}

/** 256 bits in base64url, behind what says to people and to scanners for leaked secrets what it is. */
const SECRET = /^sms_[A-Za-z0-9_-]{43}$/

/** undefined: a tenant without machines, where nobody looks for any. */
export function compileServices(enforced: EnforcedServices | undefined): ServiceJudge | undefined {
  if (enforced === undefined || enforced.services.length === 0) return undefined
  const services = new Map(
    enforced.services.map((service) => [
      service.service_id,
      {
        isDisabled: service.is_disabled === true,
        identity: service.identity,
        secrets: service.secrets.map(({ secret_id: secretId, hash, ends_at: endsAt }): Secret => ({
          secretId,
          hash: Buffer.from(hash, 'base64url'),
          endsAt,
        })),
      },
    ]),
  )

  function standing(pass: MachinePass, nowSeconds: number): MachineReason | undefined {
    const { tokenEndsAt } = pass
    if (tokenEndsAt === undefined) return standingOf(pass, nowSeconds)
    if (tokenEndsAt <= nowSeconds) return 'machine_token_expired'
    return standingOf(pass, nowSeconds) && 'machine_token_revoked'
  }

  function standingOf(
    { serviceId, secretId }: MachinePass,
    nowSeconds: number,
  ): MachineReason | undefined {
    const service = services.get(serviceId)
    const secret = service?.secrets.find((one) => one.secretId === secretId)
    if (service === undefined || secret === undefined) return 'machine_unknown'
    if (secret.endsAt <= nowSeconds) return 'machine_secret_ended'
    return service.isDisabled ? 'machine_disabled' : undefined
  }

  function admit(pass: MachinePass, nowSeconds: number): KnownMachine | MachineReason {
    const reason = standing(pass, nowSeconds)
    const identity = services.get(pass.serviceId)?.identity
    return reason ?? (identity === undefined ? 'machine_unknown' : { pass, identity })
  }

  return {
    know({ ids, secrets }, nowSeconds) {
      const [serviceId, given] = [ids[0], secrets[0]]
      if (ids.length !== 1 || serviceId === undefined || !SERVICE_ID.test(serviceId))
        return 'machine_malformed'
      if (secrets.length !== 1 || given === undefined || !SECRET.test(given))
        return 'machine_malformed'
      const service = services.get(serviceId)
      const hash = createHash('sha256').update(given).digest()
      const secret = service?.secrets.find((one) => timingSafeEqual(one.hash, hash))
      // one that is not there and one with another secret are told the same
      if (service === undefined || secret === undefined) return 'machine_unknown'
      return admit({ serviceId, secretId: secret.secretId }, nowSeconds)
    },
    admit,
    standing,
  }
}
