/** A tenant with devices, and machines that speak as our agent does, without a socket. */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { DEVICE_FACTS, type Posture } from '../../shared/device/facts.ts'
import { DEVICE_MESSAGES } from '../../shared/device/messages.ts'
import { postureHash } from '../../shared/device/posture-hash.ts'
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
  ...said,
})

/** Signed by its own key, as the first message is. */
export const enrolJws = (own: DeviceKey, said: object = {}): string =>
  signJws({ typ: DEVICE_MESSAGES.enrol, jwk: own.jwk }, enrolment(said), own)

export function makePosture(values: Partial<Record<string, boolean>> = {}): Posture {
  const facts = DEVICE_FACTS.map((name) => [name, { value: values[name] ?? true, reason: 'ok' }])
  return {
    facts: Object.fromEntries(facts) as Posture['facts'],
    os: { id: 'debian', version: '13' },
    agent: '0.2.0',
  }
}

/** What a machine keeps between two messages. */
export interface Machine {
  readonly deviceId: string
  readonly own: DeviceKey
  bootId: string
  ctr: number
  prev: string
  posture: Posture
}

export type MachineMessage = 'checkIn' | 'leave' | 'prove'

export function contentOf(machine: Machine, kind: MachineMessage, other: object = {}) {
  const { bootId, ctr, prev, posture } = machine
  const chain = { ctr, prev, boot_id: bootId }
  if (kind === 'leave') return { ...chain, ...other }
  const report = { ...chain, posture_hash: postureHash(posture), age_s: 10 }
  return kind === 'prove' ? { ...report, posture, ...other } : { ...report, ...other }
}

export const machineJws = (machine: Machine, kind: MachineMessage, other: object = {}): string =>
  signJws(
    { typ: DEVICE_MESSAGES[kind], kid: machine.deviceId },
    contentOf(machine, kind, other),
    machine.own,
  )

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

  /** One that has enrolled. */
  async function machine(said: object = {}, asked: object = {}): Promise<Machine> {
    const own = makeDeviceKey()
    const { ticket: secret } = await ticket(asked)
    const answer = await enrol(secret, own, said)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    const { device_id: deviceId, next } = answer.body as Record<'device_id' | 'next', string>
    const started = { bootId: random32(), ctr: 0 }
    return { deviceId, own, ...started, prev: next, posture: makePosture() }
  }

  /** As the agent does it: what it keeps moves on once an answer has come. */
  async function checkIn(one: Machine, other: object = {}) {
    const answer = await say('checkin', machineJws(one, 'checkIn', other))
    if (answer.status === 200) {
      one.prev = String(answer.body['next'])
      one.ctr++
    }
    return answer
  }

  const nonce = async (deviceId: string) =>
    String(
      (await call('POST', '/agent/v1/nonce', { device_id: deviceId }, { key: null })).body['nonce'],
    )

  async function person(username: string): Promise<string> {
    const account = { username, email: `${username}@acme.example`, password: 'a-long-password-7' }
    const made = await operator('POST', '/tenants/acme/users', account)
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return String(made.body['user_id'])
  }

  return { ...api, clock, say, ticket, enrol, machine, checkIn, nonce, person }
}
