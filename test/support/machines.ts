/** Machines as gateways and middlewares are told of them. */
import { createHash, randomBytes } from 'node:crypto'
import type { EnforcedServices } from '../../shared/fleet/services.ts'
import { signRs256, type SigningKey } from './tokens.ts'

type Service = EnforcedServices['services'][number]

export const newSecret = () => `sms_${randomBytes(32).toString('base64url')}`

export function secretOf(text: string, endsAt: number, secretId = 'ssk_1'): Service['secrets'][0] {
  const hash = createHash('sha256').update(text).digest('base64url')
  return { secret_id: secretId, hash, ends_at: endsAt }
}

export const SECRET_ID = 'ssk_0123456789abcdef'

/** As the realm gives it to a machine; what is changed is wrong. */
export function machineTokenOf(
  key: SigningKey,
  serviceId: string,
  { issuer, audience }: { readonly issuer: string; readonly audience: string },
  iat: number,
  claims: Readonly<Record<string, unknown>> = {},
  head: Readonly<Record<string, unknown>> = {},
): string {
  const who = { sub: serviceId, client_id: serviceId, secret_id: SECRET_ID }
  const whole = { iss: issuer, aud: audience, ...who, iat, exp: iat + 600, jti: 'j', ...claims }
  return signRs256(key, { alg: 'RS256', kid: key.kid, typ: 'at+jwt', ...head }, whole)
}

/** As the control plane signs it ahead. */
export function identityOf(
  key: SigningKey,
  serviceId: string,
  { issuer, audience }: { readonly issuer: string; readonly audience: string },
  iat: number,
): string {
  const who = { sub: serviceId, client_id: serviceId, sid: serviceId, name: 'CI' }
  const times = { iat, exp: iat + 7 * 86_400, auth_time: iat }
  const claims = { iss: issuer, aud: audience, ...who, ...times, amr: ['client_secret'] }
  return signRs256(key, { alg: 'RS256', kid: key.kid, typ: 'JWT' }, claims)
}
