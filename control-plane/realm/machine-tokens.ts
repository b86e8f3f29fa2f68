/**
 * `client_credentials`: a machine gets a token of ten minutes for its id and its secret or key, which gateways
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
import { assertionIn, rememberedUntilMs, requireAssertion, signerOf } from './machine-assertions.ts'
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

type Good = Extract<ShownSecret, { kind: 'good' }>
type Refused = Exclude<ShownSecret['kind'], 'good'>

/** As gateways call it. */
const REASONS: Readonly<Record<Refused, MachineReason>> = {
  unknown: 'machine_unknown',
  ended: 'machine_secret_ended',
  disabled: 'machine_disabled',
}

const SAID: Readonly<Record<Exclude<Refused, 'unknown'>, string>> = {
  ended: 'the secret or key has expired; create a new one for this machine',
  disabled: 'the machine is disabled',
}

/** Machines are clients of the realm as well, which may ask for such a token and for nothing else. */
export function machineClients(
  tenantId: string,
  { machines }: Pick<RealmWorld, 'machines'>,
): Pick<Adapter, 'find'> {
  return {
    async find(clientId) {
      if (!SERVICE_ID.test(clientId)) return undefined
      const keys = await machines.keysOf(tenantId, clientId)
      if (keys === undefined) return undefined
      const client = {
        client_id: clientId,
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
      }
      // a client has one way to show itself, and a machine the one that it has come by
      if (keys.length > 0 && assertionIn(Provider.ctx) !== undefined)
        return {
          ...client,
          token_endpoint_auth_method: 'private_key_jwt',
          jwks: { keys: keys.map(({ key }) => ({ ...key, use: 'sig' })) },
        }
      return {
        ...client,
        client_secret: NEVER_COMPARED,
        token_endpoint_auth_method: 'client_secret_basic', // which takes client_secret_post too
      }
    },
  }
}

export function createMachineTokens(issuer: MachineTokenIssuer, world: RealmWorld) {
  const { tenantId } = issuer
  /** By which secret or key the client of a request has shown itself. */
  const shown = new WeakMap<KoaContextWithOIDC, Good>()
  const isTold = new WeakSet<object>()

  async function take(ctx: KoaContextWithOIDC, clientId: string, secret: ShownSecret) {
    if (secret.kind === 'good') {
      shown.set(ctx, secret)
      return true
    }
    await tellOfRefusal(ctx, clientId, secret.kind)
    if (secret.kind === 'unknown') return false
    // only whoever has the secret is told what is wrong with it
    throw Object.assign(new errors.InvalidClientAuth(SAID[secret.kind]), {
      error_description: SAID[secret.kind],
    })
  }

  /** As gateways tell of those who come to them with wrong credentials. */
  async function tellOfRefusal(ctx: KoaContextWithOIDC, subject: string, kind: Refused) {
    isTold.add(ctx)
    const reason = REASONS[kind]
    const event = { tenant_id: tenantId, outcome: 'refused', reason, subject }
    const told = { ...event, ip: addressOf(ctx.req), app_host: new URL(issuer.issuer).host }
    await asStranger(() => world.enforcement.receive('realm', [told]))
  }

  /** It is in a body that the provider reads, who refuses most of what is wrong with one by itself. */
  async function tellOfAssertions(ctx: KoaContextWithOIDC, next: () => Promise<unknown>) {
    await next()
    const clientId = ctx.status === 401 ? ctx.oidc?.client?.clientId : undefined
    if (clientId === undefined || !SERVICE_ID.test(clientId) || isTold.has(ctx)) return
    if (assertionIn(ctx) !== undefined) await tellOfRefusal(ctx, clientId, 'unknown')
  }

  async function judgeAssertion(
    ctx: KoaContextWithOIDC,
    claims: Readonly<Record<string, unknown>>,
    header: Readonly<Record<string, unknown>>,
    { clientId }: { readonly clientId: string },
  ) {
    requireAssertion(claims, header, { issuer: issuer.issuer, clock: world.clock })
    const keys = (await world.machines.keysOf(tenantId, clientId)) ?? []
    const signer = await signerOf(assertionIn(ctx) ?? '', keys)
    if (signer === undefined) throw new errors.InvalidClientAuth('no key has signed it')
    const proven = await world.machines.proven(tenantId, clientId, signer.secretId)
    if (!(await take(ctx, clientId, proven)))
      throw new errors.InvalidClientAuth('the key is revoked')
    requireRate(ctx, issuer, clientId) // before anything is written down of it
  }

  function issueFrom(provider: OidcProvider): void {
    const { prototype } = provider.Client // a class of this provider's own
    const isSecretOfApplication = prototype.compareClientSecret
    prototype.compareClientSecret = async function (actual) {
      if (!SERVICE_ID.test(this.clientId)) return isSecretOfApplication.call(this, actual)
      const { ctx } = Provider
      const secret = await world.machines.shown(tenantId, this.clientId, actual)
      return ctx !== undefined && take(ctx, this.clientId, secret)
    }
    // the provider's own looks first and writes then: two at once would both be the first
    class Assertions extends provider.ReplayDetection {
      static override unique(iss: string, jti: string, exp: number): Promise<boolean> {
        return world.machines.isFirstUse(tenantId, iss, jti, rememberedUntilMs(exp))
      }
    }
    Object.defineProperty(provider, 'ReplayDetection', { value: Assertions })
    Object.defineProperty(provider, 'ClientCredentials', { value: machineTokenOf(provider) })
  }

  return { issueFrom, judgeAssertion, tellOfAssertions }

  function machineTokenOf(provider: OidcProvider) {
    class MachineToken extends provider.ClientCredentials {
      override async save(): Promise<string> {
        const { ctx } = Provider
        const secret = ctx && shown.get(ctx)
        const serviceId = this.clientId
        if (ctx === undefined || secret === undefined || serviceId === undefined)
          throw new Error('a token for a machine without a secret')
        if (assertionIn(ctx) === undefined) requireRate(ctx, issuer, serviceId)
        const iat = nowSeconds(world.clock)
        const exp = Math.min(
          iat + LIMITS.serviceTokenSeconds,
          Math.floor(secret.endsAt / SECOND_MS),
        )
        Object.assign(this, { expiresIn: exp - iat }) // what the answer says
        this.scope = undefined // what a machine may open access rules say, and nothing that it asks for
        const { secretId } = secret
        const token = await signed({ serviceId, secretId, iat, exp }, issuer)
        await world.machines.tokenGiven({ tenantId, serviceId, secretId, ip: addressOf(ctx.req) })
        return token
      }
    }
    return MachineToken
  }
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
