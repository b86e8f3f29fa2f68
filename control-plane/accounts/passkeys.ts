/** Passkeys as second factors (WebAuthn), checked by @simplewebauthn/server. */
import { isLocalhost } from '../../shared/hosts.ts'
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type * as Helpers from '@simplewebauthn/server/helpers'
import * as v from 'valibot'

/** Loaded by whoever needs it first: what it knows of certificates takes a fifth of a start. */
const webauthn = () => import('@simplewebauthn/server')
const webauthnHelpers = () => import('@simplewebauthn/server/helpers')

/** What is kept of one, sealed. */
export interface Passkey {
  readonly id: string
  readonly publicKey: string
  readonly transports: string[]
}

export interface PasskeySite {
  readonly origin: string
  readonly rpId: string
}

/** Browsers have passkeys for names, over HTTPS or on the machine itself. */
export function passkeySite(baseUrl: string): PasskeySite | undefined {
  const { origin, hostname, protocol } = new URL(baseUrl)
  const isLocal = isLocalhost(hostname)
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return undefined
  return protocol === 'https:' || isLocal ? { origin, rpId: hostname } : undefined
}

interface Registration {
  readonly challenge: string
  readonly tenantName: string
  readonly userId: string
  readonly username: string
  readonly known: readonly Passkey[]
}

export async function registrationOptions(site: PasskeySite, registration: Registration) {
  const { challenge, tenantName, userId, username, known } = registration
  const { generateRegistrationOptions } = await webauthn()
  return generateRegistrationOptions({
    rpName: tenantName,
    rpID: site.rpId,
    userName: username,
    userID: createHash('sha256').update(userId).digest(), // at most 64 bytes, and not for people
    challenge: Buffer.from(challenge, 'base64url'),
    excludeCredentials: known.map(toDescriptor),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  })
}

export async function authenticationOptions(
  site: PasskeySite,
  challenge: string,
  known: readonly Passkey[],
) {
  const { generateAuthenticationOptions } = await webauthn()
  return generateAuthenticationOptions({
    rpID: site.rpId,
    challenge: Buffer.from(challenge, 'base64url'),
    allowCredentials: known.map(toDescriptor),
    userVerification: 'preferred',
  })
}

/** The new passkey and its counter, or nothing where the answer is not in order. */
export async function registeredPasskey(site: PasskeySite, challenge: string, answer: string) {
  const response = parsed<RegistrationResponseJSON>(answer)
  if (response === undefined) return undefined
  const { verifyRegistrationResponse } = await webauthn()
  const helpers = await webauthnHelpers()
  try {
    const result = await verifyRegistrationResponse({
      response: unattested(response, helpers),
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      requireUserVerification: false, // it is the second factor, the password was the first
    })
    if (!result.verified) return undefined
    const { id, publicKey, counter, transports = [] } = result.registrationInfo.credential
    const encoded = Buffer.from(publicKey).toString('base64url')
    return { passkey: { id, publicKey: encoded, transports } satisfies Passkey, counter }
  } catch {
    return undefined
  }
}

const BASE64URL = /^[A-Za-z0-9_-]+$/

/**
 * Nobody is asked for an attestation. With the certificates of one the library would fetch what they
 * name as their list of revoked ones, from wherever it is: an address of the client's choice. So the
 * library gets an object that we made, with the client's data and no statement of its own: not the
 * client's text, which two decoders may read as two objects.
 */
function unattested(
  answer: RegistrationResponseJSON,
  { decodeAttestationObject, isoBase64URL, isoCBOR }: typeof Helpers,
): RegistrationResponseJSON {
  const text = answer.response.attestationObject
  if (!BASE64URL.test(text)) throw new Error('the attestation object is not base64url')
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(text)).get('authData')
  const object = new Map<string, string | Uint8Array | Map<never, never>>([
    ['fmt', 'none'],
    ['attStmt', new Map<never, never>()],
    ['authData', authData],
  ])
  const attestationObject = isoBase64URL.fromBuffer(isoCBOR.encode(object))
  return { ...answer, response: { ...answer.response, attestationObject } }
}

/** The counter that the passkey has reached, or nothing where the answer is not in order. */
export async function passkeyCounter(
  site: PasskeySite,
  challenge: string,
  { id, publicKey, transports }: Passkey,
  counter: number,
  answer: string,
): Promise<number | undefined> {
  const response = parsed<AuthenticationResponseJSON>(answer)
  if (response === undefined) return undefined
  const { verifyAuthenticationResponse } = await webauthn()
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      credential: { id, publicKey: Buffer.from(publicKey, 'base64url'), counter, transports },
      requireUserVerification: false,
    })
    return verified ? authenticationInfo.newCounter : undefined
  } catch {
    return undefined
  }
}

/** Which passkey an answer speaks of, before anything about it is believed. */
export function passkeyIdIn(answer: string): string | undefined {
  return parsed(answer)?.id
}

const Answer = v.looseObject({ id: v.string(), response: v.looseObject({}) })

/** Of the rough shape only; the library looks at all of it, and refuses by throwing. */
function parsed<T extends { readonly id: string }>(answer: string): T | undefined {
  try {
    return v.parse(Answer, JSON.parse(answer)) as unknown as T
  } catch {
    return undefined
  }
}

function toDescriptor({ id, transports }: Passkey) {
  return { id, transports: transports as never }
}
