/** What the agent on a machine asks. Each of its messages is one compact JWS by the key of the device. */
import { Refusal } from '../../shared/errors.ts'
import { EnrolAnswer } from '../../shared/device/messages.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { RateLimits } from '../../shared/rate-limits.ts'
import type { Devices } from '../devices/devices.ts'
import { addressRates } from '../http/address-rates.ts'
import { readBytes } from '../http/body.ts'
import { addressOf, type ApiContext } from '../http/context.ts'
import { bearerOf } from './callers.ts'
import { endpointsOf, json, type Endpoint } from './endpoint.ts'

export interface AgentEndpointsWorld {
  readonly enrolledDevices: Pick<Devices, 'enroll'>
  readonly rates: RateLimits
}

/** Each has a rate of its own: an office of thousands comes from one address. */
const anyone = endpointsOf('agent', 'anyone', { isUnlimited: true })
const JOSE = /^application\/jose$/i

export function agentEndpoints({
  enrolledDevices,
  rates,
}: AgentEndpointsWorld): readonly Endpoint[] {
  const ofStrangers = addressRates(rates)

  return [
    anyone.post('/agent/v1/enroll', {
      summary: 'Enrolls a device to the tenant of its ticket.',
      description:
        'Repeating it with the same key, because the response was lost, returns the same device.',
      headers: { Authorization: '`Bearer` with the ticket.' },
      jose: 'ES256, `typ` `dev-enroll+jwt`, with the public key as `jwk`.',
      answers: { 201: json(EnrolAnswer, 'Which device it is now, and what it needs to know.') },
      refusals: ['device_ticket_invalid', 'devices_full', 'rate_limited'],
      handle: async (c) => {
        ofStrangers.take('device enrolments', addressOf(c), LIMITS.rateDeviceEnrol)
        const ticket = bearerOf(c)
        if (ticket === undefined) throw new Refusal('device_ticket_invalid')
        const jws = await readJose(c)
        return c.json(await enrolledDevices.enroll(ticket, jws, fromOf(c)), 201)
      },
    }),
  ]
}

const fromOf = (c: ApiContext) => ({ address: addressOf(c), requestId: c.get('requestId') })

async function readJose(c: ApiContext): Promise<string> {
  if (!JOSE.test(c.req.header('content-type') ?? ''))
    throw new Refusal(
      'media_type_unsupported',
      {},
      'Send the body with Content-Type: application/jose.',
    )
  const bytes = await readBytes(c, LIMITS.deviceBodyBytesMax)
  return Buffer.from(bytes).toString('latin1')
}
