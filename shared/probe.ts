/**
 * How verification knows that a request went through the service. The control plane signs a pass
 * beside its probe; a gateway that finds the pass good carries the request on the health path
 * even when protection is on, and proves with its answer that it did so, whatever that answer is:
 * the application's, or its own 502. The application answers the probe itself (see the middleware).
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

export const PROBE_HEADER = 'x-service-probe'
export const PROBE_PASS_HEADER = 'x-service-probe-pass'
export const PROBE_CARRIED_HEADER = 'x-service-probe-carried'
export const PROBE_REPLY_HEADER = 'x-service-probe-reply'
/** `typ` of the probe's JWT: it can never be taken for a session. */
export const PROBE_TYPE = 'service-probe+jwt'
export const PROBE_SECONDS = 60

const PASS = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/
const KEY_BYTES = 32

/** Derive once per client secret; the other functions take what this returns. */
export function probeKeyOf(clientSecret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', clientSecret, '', 'service/probe', KEY_BYTES))
}

/** The value of `X-Service-Probe-Pass`. */
export function makePass(key: Buffer, probe: string, nowSeconds: number): string {
  return `t=${nowSeconds},v1=${mac(key, `${nowSeconds}.${probe}`)}`
}

/** Whether `pass` was made for this very probe, in the last minute, by who knows the secret. */
export function checkPass(key: Buffer, pass: string, probe: string, nowSeconds: number): boolean {
  const match = PASS.exec(pass)
  if (match === null || probe === '') return false
  const [, time = '', given = ''] = match
  if (Math.abs(nowSeconds - Number(time)) > PROBE_SECONDS) return false
  return isSame(given, mac(key, `${time}.${probe}`))
}

/** The value of `X-Service-Probe-Carried`. */
export function carriedProof(key: Buffer, probe: string): string {
  return mac(key, `carried.${probe}`)
}

export function isCarriedProof(key: Buffer, probe: string, proof: string): boolean {
  return /^[0-9a-f]{64}$/.test(proof) && isSame(proof, carriedProof(key, probe))
}

function mac(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex')
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
