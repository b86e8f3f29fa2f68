/**
 * The service's word on whether a tenant is protected, signed with the tenant's current key, for
 * applications that have to know whether unsigned visitors are still to get in. Whoever asks may
 * read it: a visit to the tenant's hostname tells the same.
 */
import { createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  PROTECTION_STATEMENT_SECONDS,
  PROTECTION_STATEMENT_TYPE,
} from '../../shared/protection-statement.ts'
import type { Protection } from '../../shared/fleet/snapshot.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import { issuerOf } from '../../shared/issuer.ts'
import { clientIdOf, type Tenant, type Tenants } from './tenants.ts'

interface ProtectionStatementsWorld {
  readonly tenants: Pick<Tenants, 'get'>
  readonly keys: Pick<SigningKeys, 'signingSet'>
  readonly clock: Clock
  readonly baseUrl: string
}

interface Statement {
  readonly protection: Protection
  readonly issuedAtMs: number
  readonly signed: Promise<string>
}

export function createProtectionStatements(world: ProtectionStatementsWorld) {
  const { tenants, keys, clock, baseUrl } = world
  const recent = new LRUCache<string, Statement>({ max: LIMITS.protectionStatementsKeptMax })

  async function sign(tenantId: string, protection: Protection, nowMs: number): Promise<string> {
    const { jwks, currentKid } = await keys.signingSet(tenantId)
    const jwk = jwks.find(({ kid }) => kid === currentKid)
    if (jwk === undefined) throw new Refusal('not_published')
    const nowSeconds = Math.floor(nowMs / SECOND_MS)
    return new SignJWT({ protection })
      .setProtectedHeader({ alg: 'RS256', typ: PROTECTION_STATEMENT_TYPE, kid: jwk.kid })
      .setIssuer(issuerOf(baseUrl, tenantId))
      .setAudience(clientIdOf(tenantId))
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + PROTECTION_STATEMENT_SECONDS)
      .sign(createPrivateKey({ key: jwk, format: 'jwk' }))
  }

  return {
    /** The state is read every time; only a signature may be some seconds old. */
    async statement(tenantId: string): Promise<string> {
      const protection = saidOf(await tenants.get(tenantId))
      const nowMs = clock.nowMs()
      const last = recent.get(tenantId)
      const ageMs = nowMs - (last?.issuedAtMs ?? -Infinity)
      const isFresh = ageMs >= 0 && ageMs < LIMITS.protectionStatementKeptMs
      if (isFresh && last?.protection === protection) return last.signed
      const signed = sign(tenantId, protection, nowMs)
      recent.set(tenantId, { protection, issuedAtMs: nowMs, signed })
      signed.catch(() => recent.delete(tenantId))
      return signed
    },
  }
}

/** As the edge decides: what is suspended is open to nobody. */
function saidOf({ status, protection }: Tenant): Protection {
  return status === 'suspended' ? 'on' : protection
}
