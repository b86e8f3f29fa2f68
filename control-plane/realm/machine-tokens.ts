/**
 * `client_credentials`: a machine gets a token of ten minutes for its id and its secret, which gateways
 * and middlewares take as `Authorization: Bearer` (.docs/decisions/0084-tokens-of-machines.md). It names
 * the secret that it was given for, and ends with it: nothing is kept of it here.
 */
import { randomBytes } from 'node:crypto'
import { CompactSign } from 'jose'
import type { Adapter, KoaContextWithOIDC, Provider as OidcProvider } from 'oidc-provider'
import { nowSeconds, SECOND_MS } from '../../shared/clock.ts'
import { MACHINE_TOKEN_TYPE } from '../../shared/enforcement/machine-token.ts'
import { SERVICE_ID } from '../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { MachineReason } from '../../shared/reasons.ts'
import type { RateLimits } from '../../shared/rate-limits.ts'
import type { PrivateSigningJwk } from '../keys/signing-keys.ts'
import { addressOf } from '../listener/client-address.ts'
import type { ShownSecret } from '../machines/machines.ts'
import { asStranger } from '../store/precedence.ts'
import { errors, Provider } from './oidc.ts'
import type { RealmWorld } from './world.ts'

interface MachineTokenIssuer {
  readonly tenantId: string
  readonly issuer: string
  readonly clientId: string
  readonly key: PrivateSigningJwk
  readonly rateLimits: RateLimits
}

/** The provider wants a secret in the clear, and compares none that is a machine's. */
const NEVER_COMPARED = randomBytes(32).toString('base64url')

type Refused = Exclude<ShownSecret['kind'], 'good'>

/** As gateways call it. */
const REASONS: Readonly<Record<Refused, MachineReason>> = {
  unknown: 'machine_unknown',
  ended: 'machine_secret_ended',
  disabled: 'machine_disabled',
}

const SAID: Readonly<Record<Exclude<Refused, 'unknown'>, string>> = {
  ended: 'the secret has expired; create a new one for this machine',
  disabled: 'the machine is disabled',
}

/** Machines are clients of the realm as well, which may ask for such a token and for nothing else. */
export function machineClients(
  tenantId: string,
  { machines }: Pick<RealmWorld, 'machines'>,
): Pick<Adapter, 'find'> {
  return {
    async find(clientId) {
      if (!SERVICE_ID.test(clientId) || !(await machines.has(tenantId, clientId))) return undefined
      return {
        client_id: clientId,
        client_secret: NEVER_COMPARED,
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        token_endpoint_auth_method: 'client_secret_basic', // which takes client_secret_post too
      }
    },
  }
}

export function issueMachineTokens(
  provider: OidcProvider,
  issuer: MachineTokenIssuer,
  world: RealmWorld,
): void {
  const { tenantId } = issuer
  /** By which secret the client of a request has shown itself. */
  const shown = new WeakMap<KoaContextWithOIDC, Extract<ShownSecret, { kind: 'good' }>>()

  const { prototype } = provider.Client // a class of this provider's own
  const isSecretOfApplication = prototype.compareClientSecret
  prototype.compareClientSecret = async function (actual) {
    if (!SERVICE_ID.test(this.clientId)) return isSecretOfApplication.call(this, actual)
    const { ctx } = Provider
    const secret = await world.machines.shown(tenantId, this.clientId, actual)
    if (ctx === undefined) return false
    if (secret.kind === 'good') {
      shown.set(ctx, secret)
      return true
    }
    await tellOfRefusal(ctx, this.clientId, secret.kind)
    if (secret.kind === 'unknown') return false
    // only whoever has the secret is told what is wrong with it
    throw Object.assign(new errors.InvalidClientAuth(SAID[secret.kind]), {
      error_description: SAID[secret.kind],
    })
  }

  /** As gateways tell of those who come to them with wrong credentials. */
  async function tellOfRefusal(ctx: KoaContextWithOIDC, subject: string, kind: Refused) {
    const reason = REASONS[kind]
    const event = { tenant_id: tenantId, outcome: 'refused', reason, subject }
    const told = { ...event, ip: addressOf(ctx.req), app_host: new URL(issuer.issuer).host }
    await asStranger(() => world.enforcement.receive('realm', [told]))
  }

  class MachineToken extends provider.ClientCredentials {
    override async save(): Promise<string> {
      const { ctx } = Provider
      const secret = ctx && shown.get(ctx)
      const serviceId = this.clientId
      if (ctx === undefined || secret === undefined || serviceId === undefined)
        throw new Error('a token for a machine without a secret')
      requireRate(ctx, issuer, serviceId)
      const iat = nowSeconds(world.clock)
      const exp = Math.min(iat + LIMITS.serviceTokenSeconds, Math.floor(secret.endsAt / SECOND_MS))
      Object.assign(this, { expiresIn: exp - iat }) // what the answer says
      this.scope = undefined // what a machine may open access rules say, and nothing that it asks for
      const { secretId } = secret
      const token = await signed({ serviceId, secretId, iat, exp }, issuer)
      await world.machines.tokenGiven({ tenantId, serviceId, secretId, ip: addressOf(ctx.req) })
      return token
    }
  }
  Object.defineProperty(provider, 'ClientCredentials', { value: MachineToken })
}

/** It has the right secret, so it is counted for itself: a token serves for ten minutes. */
function requireRate(
  ctx: KoaContextWithOIDC,
  { tenantId, rateLimits }: MachineTokenIssuer,
  serviceId: string,
) {
  const whose = `${tenantId} ${serviceId}`
  const wait = rateLimits.waitSeconds('machineToken', whose, LIMITS.rateServiceTokens)
  if (wait === undefined) return
  ctx.set('Retry-After', String(wait))
  const said = 'use a token until it expires, and ask again later'
  throw Object.assign(new errors.CustomOIDCProviderError('rate_limited', said), {
    status: 429,
    statusCode: 429,
  })
}

/** RFC 9068 2.2. */
async function signed(
  {
    serviceId,
    secretId,
    iat,
    exp,
  }: Readonly<Record<'serviceId' | 'secretId', string>> & Readonly<Record<'iat' | 'exp', number>>,
  { issuer, clientId, key }: MachineTokenIssuer,
): Promise<string> {
  const who = { sub: serviceId, client_id: serviceId, secret_id: secretId }
  const jti = randomBytes(16).toString('base64url')
  const payload = { iss: issuer, aud: clientId, ...who, iat, exp, jti }
  return new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'RS256', kid: key.kid, typ: MACHINE_TOKEN_TYPE })
    .sign(key)
}
