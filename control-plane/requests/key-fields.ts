/** Keys, secrets and certificates, and what is sealed with them. */
import * as v from 'valibot'
import { GATEWAY_ID } from '../../shared/config/config.ts'
import { LIMITS } from '../../shared/limits.ts'
import { ROTATION_PHASES } from '../keys/signing-keys.ts'
import { flag, oneOf, whole } from './fields.ts'

const overlapSeconds = v.pipe(
  whole(0, LIMITS.secretOverlapSecondsMax, ' of seconds'),
  v.description('How long the previous secret stays valid; 0 revokes it immediately.'),
)
export const SecretRotationBody = v.strictObject({
  overlap_seconds: v.optional(overlapSeconds, LIMITS.secretOverlapSecondsDefault),
})
/** Nobody is signed out by it, so the old one ends at once unless it is said how long it counts. */
export const AnalyzerKeyRotationBody = v.strictObject({
  overlap_seconds: v.optional(overlapSeconds, 0),
})
const ignoreLocalChecks = v.pipe(
  v.optional(flag, false),
  v.description('Goes live although the latest report of service-analyzer fails. Audited.'),
)
export const GoLiveAnywayBody = v.strictObject({ ignore_local_checks: ignoreLocalChecks })
export const GoLiveBody = v.strictObject({ force: v.optional(flag, false) })

/** What has to be escaped would go to gateways six times as long. */
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/
const pem = (bytesMax: number) =>
  v.pipe(
    v.string('text in PEM format'),
    v.maxBytes(bytesMax, `at most ${bytesMax} bytes`),
    v.check((text) => !CONTROLS.test(text) && text.isWellFormed(), 'text in PEM format'),
  )

export const RotationBody = v.strictObject({
  phase: oneOf(ROTATION_PHASES),
  private_key_pem: v.optional(pem(LIMITS.privateKeyBytesMax)),
  force: v.optional(flag, false),
})
export const CertificateBody = v.strictObject({
  certificate_pem: pem(LIMITS.certificateBytesMax),
  private_key_pem: pem(LIMITS.privateKeyBytesMax),
})

const ID_WISH = 'letters, digits, dots and dashes, at most 64'
export const NewGatewayKeyBody = v.strictObject({
  gateway_id: v.pipe(
    v.string(ID_WISH),
    v.regex(GATEWAY_ID, ID_WISH),
    v.description('`gateway.id` in the settings of the gateway.'),
  ),
})
