/** The command line tool signs in with a code that somebody allows in the console (RFC 8628). */
import * as v from 'valibot'
import { SECOND_MS } from '../../shared/clock.ts'
import { MODES } from '../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../shared/limits.ts'
import { DEVICE_PATH } from '../console-access/device-codes.ts'
import { addressRates } from '../http/address-rates.ts'
import { addressOf } from '../http/context.ts'
import { count, described } from '../requests/described.ts'
import { text } from '../requests/fields.ts'
import { endpointsOf, json, type Endpoint } from './endpoint.ts'
import type { ApiWorld } from './world.ts'

const anyone = endpointsOf('integration', 'anyone')

const called = v.optional(text('printable text', LIMITS.deviceNameCharactersMax))

const DeviceCodeBody = v.strictObject({ machine: called, application: called })

const DeviceCodeAnswer = v.strictObject({
  device_code: v.string(),
  user_code: described(v.string(), 'To compare with the page: `BCDF-GHJK`.'),
  verification_uri: v.string(),
  verification_uri_complete: described(v.string(), 'The same page, with the code filled in.'),
  expires_in: described(count, 'Seconds.'),
  interval: described(count, 'Seconds between two polls.'),
})

const DeviceTokenBody = v.strictObject({
  device_code: text('a device code', LIMITS.secretCharactersMax),
})

/** Strict, so nothing else goes out. */
const DeviceTokenAnswer = v.strictObject({
  analyzer_key: v.string(),
  tenant_id: v.string(),
  mode: v.picklist(MODES),
  hostname: described(v.nullable(v.string()), 'The first one of the tenant.'),
  origin: described(v.string(), 'Where the application runs.'),
  integration_url: described(v.string(), 'Its page in the console.'),
  client_secret: described(v.optional(v.string()), 'In sdk mode, if that was approved too.'),
})

export function deviceCodeEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { baseUrl, rates } = world
  const { deviceCodes } = world.consoleAccess
  const ofStrangers = addressRates(rates)
  const page = `${baseUrl}${DEVICE_PATH}`

  return [
    anyone.post('/api/v1/cli/device-codes', {
      summary: 'Starts a browser sign-in for the command-line tool.',
      description:
        'As in RFC 8628: show `user_code`, open `verification_uri_complete`, poll `device-tokens`. The approval page shows both names.',
      body: DeviceCodeBody,
      example: { machine: 'kims-laptop', application: 'shop' },
      answers: { 201: json(DeviceCodeAnswer, 'The codes, valid for ten minutes.') },
      handle: async (c, { body }) => {
        const { machine = '', application = '' } = body
        const address = addressOf(c)
        ofStrangers.take('device codes', address, LIMITS.rateDeviceCodes)
        const { deviceCode, userCode } = await deviceCodes.open({ machine, application, address })
        const opened = {
          device_code: deviceCode,
          user_code: userCode,
          verification_uri: page,
          verification_uri_complete: `${page}?code=${userCode}`,
          expires_in: LIMITS.deviceCodeMs / SECOND_MS,
          interval: LIMITS.deviceCodeIntervalSeconds,
        }
        return c.json(opened, 201)
      },
    }),
    anyone.post('/api/v1/cli/device-tokens', {
      summary: 'Returns the analyzer key once the sign-in is approved. Works once.',
      description:
        'Polling faster than `interval` answers `slow_down` with a longer one. `access_denied` and `expired_token` are final; if the response was lost, start over.',
      body: DeviceTokenBody,
      example: { device_code: 'sdc_from_device_codes' },
      answers: { 200: json(DeviceTokenAnswer, 'The key of the chosen tenant.') },
      refusals: ['authorization_pending', 'slow_down', 'access_denied', 'expired_token'],
      handle: async (c, { body }) => {
        const address = addressOf(c)
        ofStrangers.take('device tokens', address, LIMITS.rateDeviceTokens)
        const asked = { address, requestId: c.get('requestId') }
        const handedOut = await deviceCodes.redeem(body.device_code, asked)
        const { tenantId, mode, hostnames, origin } = handedOut.tenant
        return c.json({
          analyzer_key: handedOut.analyzerKey,
          tenant_id: tenantId,
          mode,
          hostname: hostnames[0] ?? null,
          origin,
          integration_url: `${baseUrl}/console/tenants/${tenantId}/integration`,
          ...(handedOut.clientSecret !== undefined && { client_secret: handedOut.clientSecret }),
        })
      },
    }),
  ]
}
