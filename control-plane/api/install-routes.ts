/** What a machine fetches that is to become a device: the script for its ticket, the agent, a Node to run it on. */
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import * as v from 'valibot'
import { DEVICE_MESSAGES } from '../../shared/device/messages.ts'
import { DEVICE_PLATFORMS, type DevicePlatform } from '../../shared/device/facts.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { VERSION } from '../../shared/version.ts'
import { RUNTIME_PLATFORMS } from '../downloads/device-agent/runtimes.ts'
import { addressRates } from '../http/address-rates.ts'
import { addressOf } from '../http/context.ts'
import type { SendLarge } from '../http/large-answers.ts'
import { endpointsOf, file, type Endpoint } from './endpoint.ts'
import type { ApiWorld } from './world.ts'

/** An office of thousands comes from one address, so each has a rate of its own. */
const anyone = endpointsOf('agent', 'anyone', { isUnlimited: true })

const SCRIPT_TYPES: Readonly<Record<DevicePlatform, string>> = {
  linux: 'text/x-shellscript',
  windows: 'text/plain',
}
const PROGRAM_TYPE = 'text/javascript'
const JOSE_TYPE = 'application/jose'
const BINARY_TYPE = 'application/octet-stream'
/** A secret may stand in it. */
const UNKEPT = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' }

export function installEndpoints(world: ApiWorld, sendLarge: SendLarge): readonly Endpoint[] {
  const { deviceTickets, challengeKeys, agentDownloads, deviceRuntimes, rates } = world
  const ofStrangers = addressRates(rates)

  const script = (platform: DevicePlatform) =>
    anyone.get(`/install/${platform}`, {
      summary: `The script that installs the device agent on ${platform === 'linux' ? 'Linux' : 'Windows'}.`,
      description: 'Fetching it does not use the ticket up.',
      query: { ticket: v.fallback(v.optional(v.string('a ticket'), ''), '') }, // whatever is none: the same 404
      answers: { 200: file(SCRIPT_TYPES[platform], 'The script, with the ticket in it.') },
      refusals: ['not_found', 'rate_limited'],
      handle: async (c, { query: { ticket } }) => {
        ofStrangers.take('device installs', addressOf(c), LIMITS.rateDeviceInstall)
        if ((await deviceTickets.usable(ticket, platform)) === undefined)
          throw new Refusal('not_found')
        const bytes = await agentDownloads.installer(platform, ticket)
        return c.body(new Uint8Array(bytes), 200, {
          'Content-Type': `${SCRIPT_TYPES[platform]}; charset=utf-8`,
          ...UNKEPT,
        })
      },
    })

  return [
    ...DEVICE_PLATFORMS.map(script),
    anyone.get('/install/agent/agent.mjs', {
      summary: 'The device agent: a single file for Node 20 and later.',
      answers: { 200: file(PROGRAM_TYPE, 'The program.') },
      refusals: ['rate_limited'],
      handle: async (c) => {
        ofStrangers.take('device downloads', addressOf(c), LIMITS.rateDeviceInstall)
        const { bytes } = await agentDownloads.program()
        return sendLarge(c, bytes, { 'Content-Type': `${PROGRAM_TYPE}; charset=utf-8` })
      },
    }),
    anyone.get('/install/agent/latest', {
      summary: 'Which device agent is the newest, signed: agents update by it.',
      answers: { 200: file(JOSE_TYPE, 'A compact JWS with version, SHA-256 and size.') },
      refusals: ['rate_limited'],
      handle: async (c) => {
        ofStrangers.take('device updates', addressOf(c), LIMITS.rateDeviceInstall)
        const { bytes, sha256 } = await agentDownloads.program()
        const content = { version: VERSION, sha256, bytes: bytes.length }
        const keys = await challengeKeys.jwks()
        const jws = await challengeKeys.sign(DEVICE_MESSAGES.update, { ...content, keys })
        return c.body(jws, 200, { 'Content-Type': JOSE_TYPE, 'Cache-Control': 'no-store' })
      },
    }),
    anyone.get('/install/node/{platform}', {
      summary: 'Node.js for machines that have none, as its npm package brings it.',
      description: `One of ${RUNTIME_PLATFORMS.join(', ')}.`,
      answers: { 200: file(BINARY_TYPE, 'The program.') },
      refusals: ['not_found', 'rate_limited'],
      handle: async (c, { path: { platform: named } }) => {
        ofStrangers.take('device downloads', addressOf(c), LIMITS.rateDeviceInstall)
        const platform = RUNTIME_PLATFORMS.find((one) => one === named)
        const runtime = platform && (await deviceRuntimes.find(platform))
        if (runtime === undefined)
          throw new Refusal(
            'not_found',
            {},
            'This installation has no such runtime. Its operator fetches them with: npm run device-runtimes',
          )
        const { path, bytes } = runtime
        const open = () => Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>
        return sendLarge(c, { length: bytes, open }, { 'Content-Type': BINARY_TYPE })
      },
    }),
  ]
}
