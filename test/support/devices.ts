/** A tenant with devices, and machines that speak as our agent does, without a socket. */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { DEVICE_MESSAGES } from '../../shared/device/messages.ts'
import { startApi } from './api.ts'
import { movableClock } from './control-plane.ts'

export interface DeviceKey {
  readonly privateKey: KeyObject
  readonly jwk: Readonly<Record<'kty' | 'crv' | 'x' | 'y', string>>
}

export function makeDeviceKey(namedCurve = 'P-256'): DeviceKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve })
  const { kty = '', crv = '', x = '', y = '' } = publicKey.export({ format: 'jwk' })
  return { privateKey, jwk: { kty, crv, x, y } }
}

export const random32 = () => randomBytes(32).toString('base64url')

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Whatever stands in the header; ES256 by this key. */
export function signJws(header: object, content: unknown, { privateKey }: DeviceKey): string {
  const signed = `${part({ alg: 'ES256', ...header })}.${part(content)}`
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}

export const enrolment = (said: object = {}) => ({
  platform: 'linux',
  arch: 'x64',
  hostname: 'laptop-1',
  agent: '0.2.0',
  key_storage: 'file',
  machine_hash: random32(),
  rid: random32(),
  ...said,
})

/** Signed by its own key, as the first message is. */
export const enrolJws = (own: DeviceKey, said: object = {}): string =>
  signJws({ typ: DEVICE_MESSAGES.enrol, jwk: own.jwk }, enrolment(said), own)

type Settings = Parameters<typeof startApi>[1]

export async function startDevices(t: Parameters<typeof startApi>[0], settings: Settings = {}) {
  const clock = movableClock()
  const api = await startApi(t, { clock, ...settings })
  const { call, operator } = api
  await api.tenant('acme')
  await operator('POST', '/tenants/acme/publish')

  const say = (path: string, jws: string, key: string | null = null, address = '192.0.2.1') =>
    call('POST', `/agent/v1/${path}`, undefined, {
      ...{ key, address },
      ...{ type: 'application/jose', raw: jws },
    })

  async function ticket(body: object = {}) {
    const wanted = { platform: 'linux', ...body }
    const made = await operator('POST', '/tenants/acme/device-tickets', wanted)
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return made.body as { ticket: string; ticket_id: string; url: string; expires_at: string }
  }

  const enrol = (secret: string, own: DeviceKey, said: object = {}, address?: string) =>
    say('enroll', enrolJws(own, said), secret, address)

  return { ...api, clock, say, ticket, enrol }
}
