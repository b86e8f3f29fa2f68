/** What the agent on a machine asks. Each of its messages is one compact JWS by the key of the device. */
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import {
  CheckInAnswer,
  CheckInSchema,
  CodeAnswer,
  CodeSchema,
  DEVICE_ID,
  EnrolAnswer,
  EnrolSchema,
  LeaveSchema,
  NonceAnswer,
  ProveAnswer,
  ProveSchema,
} from '../../shared/device/messages.ts'
import { LIMITS } from '../../shared/limits.ts'
import { addressRates } from '../http/address-rates.ts'
import { readBytes } from '../http/body.ts'
import { addressOf, type ApiContext } from '../http/context.ts'
import { bearerOf } from '../http/bearer.ts'
import { endpointsOf, json, nothing, type Endpoint } from './endpoint.ts'
import type { ApiWorld } from './world.ts'

/** Each has a rate of its own: an office of thousands comes from one address. */
const anyone = endpointsOf('agent', 'anyone', { isUnlimited: true })
const OF_DEVICE = ['device_suspect_clone', 'device_chain_lost', 'rate_limited'] as const
const ID_WISH = 'the ID of a device'
const NonceBody = v.strictObject({
  device_id: v.pipe(v.string(ID_WISH), v.regex(DEVICE_ID, ID_WISH)),
})

/** Whoever writes an agent needs to know what it says. */
function payloadOf({ entries }: { readonly entries: Readonly<Record<string, v.GenericSchema>> }) {
  const members = Object.entries(entries).map(
    ([name, { type }]) => `\`${name}\`${type === 'optional' ? ' (optional)' : ''}`,
  )
  return `Its payload: ${members.join(', ')}.`
}

export function agentEndpoints({
  enrolledDevices,
  deviceProofs,
  deviceTypedCodes,
  rates,
}: ApiWorld): readonly Endpoint[] {
  const ofStrangers = addressRates(rates)

  /** Who comes too often is told to come when there is room, and not just when it may ask again. */
  function take(c: ApiContext) {
    const seconds = ofStrangers.waitSeconds('agents', addressOf(c), LIMITS.rateDeviceAgent)
    if (seconds === undefined) return
    const retryAfter = Math.max(seconds, enrolledDevices.again())
    throw new Refusal('rate_limited', { retry_after: retryAfter })
  }

  return [
    anyone.post('/agent/v1/enroll', {
      summary: 'Enrolls a device to the tenant of its ticket.',
      description:
        'Repeating it with the same key, because the response was lost, returns the same device.',
      headers: { Authorization: '`Bearer` with the ticket.' },
      jose: `ES256, \`typ\` \`dev-enroll+jwt\`, with the public key as \`jwk\`. ${payloadOf(EnrolSchema)}`,
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
    anyone.post('/agent/v1/checkin', {
      summary: 'Takes the check-in of a device.',
      description:
        'The next message gives `next` back as `prev`. With 503, come again after `Retry-After`.',
      jose: `ES256, \`typ\` \`dev-checkin+jwt\`, with the device as \`kid\`. ${payloadOf(CheckInSchema)}`,
      answers: { 200: json(CheckInAnswer, 'What the device needs to know.') },
      refusals: [...OF_DEVICE, 'unavailable'],
      handle: async (c) => {
        take(c)
        return c.json(await enrolledDevices.checkIn(await readJose(c), fromOf(c)))
      },
    }),
    anyone.post('/agent/v1/prove', {
      summary: 'Takes a check-in that answers the challenge of a sign-in.',
      description: 'The browser brings the code back to the sign-in, within a minute.',
      jose: `ES256, \`typ\` \`dev-prove+jwt\` (or that of a check-in), with the device as \`kid\`. ${payloadOf(ProveSchema)}`,
      answers: { 200: json(ProveAnswer, 'The code.') },
      refusals: [...OF_DEVICE, 'device_challenge_invalid'],
      handle: async (c) => {
        take(c)
        const jws = await readJose(c)
        return c.json(await enrolledDevices.prove(jws, fromOf(c), deviceProofs.redeem))
      },
    }),
    anyone.post('/agent/v1/code', {
      summary: 'Takes a check-in that asks for a code, to be typed into a sign-in.',
      description: 'For browsers that cannot reach the agent, where the device policy allows it.',
      jose: `ES256, \`typ\` \`dev-code+jwt\`, with the device as \`kid\`. ${payloadOf(CodeSchema)}`,
      answers: { 200: json(CodeAnswer, 'The code, and how long it can be typed.') },
      refusals: [...OF_DEVICE, 'device_code_off'],
      handle: async (c) => {
        take(c)
        const jws = await readJose(c)
        return c.json(await enrolledDevices.code(jws, fromOf(c), deviceTypedCodes.make))
      },
    }),
    anyone.post('/agent/v1/nonce', {
      summary: 'Returns a nonce to use as `prev` once; unknown devices get one too.',
      body: NonceBody,
      example: { device_id: 'dev_1b9f6c1e2d3a4b5c' },
      answers: { 200: json(NonceAnswer, 'The nonce.') },
      refusals: ['rate_limited'],
      handle: async (c, { body }) => {
        take(c)
        return c.json({ nonce: await enrolledDevices.nonce(body.device_id) })
      },
    }),
    anyone.post('/agent/v1/leave', {
      summary: 'Removes a device, at its own wish, and ends the sessions started on it.',
      jose: `ES256, \`typ\` \`dev-leave+jwt\`, with the device as \`kid\`. ${payloadOf(LeaveSchema)}`,
      answers: { 204: nothing('It is gone.') },
      refusals: OF_DEVICE,
      handle: async (c) => {
        take(c)
        await enrolledDevices.leave(await readJose(c), fromOf(c))
        return c.body(null, 204)
      },
    }),
  ]
}

const fromOf = (c: ApiContext) => ({ address: addressOf(c), requestId: c.get('requestId') })

/** A signed message says itself what it is, so its Content-Type is not asked. */
async function readJose(c: ApiContext): Promise<string> {
  const bytes = await readBytes(c, LIMITS.deviceBodyBytesMax)
  return Buffer.from(bytes).toString('latin1')
}
