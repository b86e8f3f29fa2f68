/** A machine with an agent that speaks to the services themselves: enrolls, and proves where a browser runs. */
import { decodeJwt } from 'jose'
import { DEVICE_FACTS, type DeviceFact, type Fact } from '../../shared/device/facts.ts'
import { DEVICE_MESSAGES } from '../../shared/device/messages.ts'
import { postureHash } from '../../shared/device/posture-hash.ts'
import type { Services } from '../../control-plane/services/services.ts'
import { ACTOR } from './control-plane.ts'
import { enrolJws, makeDeviceKey, random32, signJws } from './devices.ts'

const FROM = { address: '192.0.2.1', requestId: '' }

type Facts = Partial<Record<DeviceFact, Fact>>

export type ProvingMachine = Awaited<ReturnType<typeof provingMachine>>

export async function provingMachine(
  services: Pick<
    Services,
    'deviceTickets' | 'deviceProofs' | 'deviceTypedCodes' | 'enrolledDevices'
  >,
  { tenantId = 'acme', userId }: { tenantId?: string; userId?: string } = {},
) {
  const { deviceTickets, deviceProofs, deviceTypedCodes, enrolledDevices } = services
  const asked = { platform: 'linux', uses: 1, expiresIn: 600, ...(userId && { userId }) } as const
  const { ticket } = await deviceTickets.make(tenantId, asked, ACTOR)
  const own = makeDeviceKey()
  const enrolled = await enrolledDevices.enroll(ticket, enrolJws(own), FROM)
  const { device_id: deviceId, confirm } = enrolled
  const bootId = random32()
  let [prev, ctr] = [enrolled.next, 0]

  function report(facts: Facts = {}) {
    const good = Object.fromEntries(
      DEVICE_FACTS.map((name) => [name, { value: true, reason: 'on' }]),
    )
    const posture = {
      facts: { ...good, ...facts } as Record<DeviceFact, Fact>,
      os: { id: 'ubuntu', version: '24.04' },
      agent: '0.2.0',
    }
    const chain = { ctr: ++ctr, prev, boot_id: bootId }
    return { ...chain, posture_hash: postureHash(posture), age_s: 5, posture }
  }
  const signed = (typ: string, content: object) => signJws({ typ, kid: deviceId }, content, own)

  return {
    deviceId,
    async checkIn(facts?: Facts) {
      const jws = signed(DEVICE_MESSAGES.checkIn, report(facts))
      const answer = await enrolledDevices.checkIn(jws, FROM)
      prev = answer.next
    },

    /** For a person to type. */
    async code(facts?: Facts): Promise<string> {
      const jws = signed(DEVICE_MESSAGES.code, report(facts))
      const answer = await enrolledDevices.code(jws, FROM, deviceTypedCodes.make)
      prev = answer.next
      return answer.code
    },

    /** Answers where it sends the browser; `at` is where that was sent. */
    async prove(at: string, facts?: Facts): Promise<string> {
      const { cid } = decodeJwt<{ cid: string }>(new URL(at).pathname.slice('/p/'.length))
      const jws = signed(DEVICE_MESSAGES.prove, { ...report(facts), cid })
      const answer = await enrolledDevices.prove(jws, FROM, deviceProofs.redeem)
      prev = answer.next
      return `${confirm}?cid=${cid}&code=${answer.code}`
    },
  }
}
