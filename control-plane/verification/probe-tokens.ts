/** Genuine and forged probes: the only difference is who signed them. */
import { createPrivateKey, generateKeyPair, randomBytes, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { SignJWT } from 'jose'
import { PROBE_SECONDS, PROBE_TYPE } from '../../shared/probe.ts'
import type { SigningSet } from '../keys/signing-keys.ts'

interface Probe {
  readonly token: string
  readonly nonce: string
}

export interface ProbePair {
  readonly kid: string
  readonly isCurrent: boolean
  readonly genuine: Probe
  readonly forged: Probe
}

interface ProbeClaims {
  readonly issuer: string
  readonly audience: string
  readonly nowSeconds: number
}

const generate = promisify(generateKeyPair)

/** One pair for each published key. */
export async function signProbes(keys: SigningSet, claims: ProbeClaims): Promise<ProbePair[]> {
  const { privateKey: foreignKey } = await generate('rsa', { modulusLength: 2048 })
  return Promise.all(
    keys.jwks.map(async (jwk) => ({
      kid: jwk.kid,
      isCurrent: jwk.kid === keys.currentKid,
      genuine: await sign(createPrivateKey({ key: jwk, format: 'jwk' }), jwk.kid, claims),
      forged: await sign(foreignKey, jwk.kid, claims),
    })),
  )
}

async function sign(key: KeyObject, kid: string, claims: ProbeClaims): Promise<Probe> {
  const nonce = randomBytes(24).toString('base64url')
  const token = await new SignJWT({ nonce })
    .setProtectedHeader({ alg: 'RS256', typ: PROBE_TYPE, kid })
    .setIssuer(claims.issuer)
    .setAudience(claims.audience)
    .setIssuedAt(claims.nowSeconds)
    .setExpirationTime(claims.nowSeconds + PROBE_SECONDS)
    .sign(key)
  return { token, nonce }
}
