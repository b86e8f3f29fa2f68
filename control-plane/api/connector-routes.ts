/** What the connector program asks: it joins once, and then who its gateways are. */
import { LIMITS } from '../../shared/limits.ts'
import { Refusal } from '../../shared/errors.ts'
import { addressRates } from '../http/address-rates.ts'
import { addressOf } from '../http/context.ts'
import {
  ChallengeAnswer,
  ChallengeBody,
  JoinAnswer,
  JoinBody,
  LeaveBody,
  StateAnswer,
  StateBody,
} from '../requests/connector-fields.ts'
import { fromOutside, viewOf } from '../requests/field-names.ts'
import { bearerOf } from '../http/bearer.ts'
import { endpointsOf, json, nothing, type Endpoint } from './endpoint.ts'
import type { ApiWorld } from './world.ts'

const anyone = endpointsOf('connector', 'anyone')
const [KEY, ID] = ['k'.repeat(42) + 'A', 'con_0123456789abcdef']
const SIGNED = {
  connector_id: ID,
  key_id: 'cok_0123456789abcdef',
  challenge: 'from.challenge.answer',
  signature: 's'.repeat(86),
}
const pollSeconds = LIMITS.connectorPollSeconds

export function connectorEndpoints({ connectors, rates }: ApiWorld): readonly Endpoint[] {
  const ofStrangers = addressRates(rates)

  return [
    anyone.post('/api/v1/connector/join', {
      summary: 'Joins a connector to the tenant of its join token.',
      description:
        'Repeating it with the same key, because the response was lost, returns the same connector.',
      headers: { Authorization: '`Bearer` with the join token.' },
      body: JoinBody,
      example: { public_key: KEY, name: 'web-1', program: '1.0.0' },
      answers: { 201: json(JoinAnswer, 'Who it is now, and its gateways.') },
      refusals: ['connector_token_invalid', 'connectors_full', 'tenant_too_large'],
      handle: async (c, { body }) => {
        ofStrangers.take('connector joins', addressOf(c), LIMITS.rateConnectorJoin)
        const token = bearerOf(c)
        if (token === undefined) throw new Refusal('connector_token_invalid')
        const requestId = c.get('requestId')
        const joined = await connectors.join(token, { ...fromOutside(body), requestId })
        return c.json(viewOf(JoinAnswer)({ ...joined, pollSeconds }), 201)
      },
    }),
    anyone.post('/api/v1/connector/challenge', {
      summary: 'Returns what a connector signs next; unknown connectors get one too.',
      body: ChallengeBody,
      example: { connector_id: ID },
      answers: { 200: json(ChallengeAnswer, 'The challenge.') },
      handle: (c, { body }) => {
        ofStrangers.take('connector state', addressOf(c), LIMITS.rateConnectorState)
        return c.json({ challenge: connectors.challenge(body.connector_id) })
      },
    }),
    anyone.post('/api/v1/connector/state', {
      summary: 'Returns the gateways of a connector; with `next_public_key` rotates its key.',
      description:
        'Signed are these lines, joined by `\\n`: `service-connector state 1`, `challenge`, ' +
        '`connector_id`, `key_id`, `next_public_key` if there is one, and `authority ` with ' +
        '`authority` if there is one.',
      body: StateBody,
      example: SIGNED,
      answers: { 200: json(StateAnswer, 'The signed list of gateways.') },
      refusals: ['connector_refused'],
      handle: async (c, { body }) => {
        ofStrangers.take('connector state', addressOf(c), LIMITS.rateConnectorState)
        const asked = { ...fromOutside(body), requestId: c.get('requestId') }
        const { document, handovers, nextKeyId } = await connectors.state(asked)
        const rotated = nextKeyId === undefined ? {} : { key_id: nextKeyId }
        const words = handovers.length === 0 ? {} : { handovers: [...handovers] }
        return c.json({ document, poll_seconds: pollSeconds, ...rotated, ...words })
      },
    }),
    anyone.post('/api/v1/connector/leave', {
      summary: 'Removes a connector, at its own wish.',
      description: 'Signed as for `/state`, with `service-connector leave 1` as the first line.',
      body: LeaveBody,
      example: SIGNED,
      answers: { 204: nothing('It is gone, and its connections are closed.') },
      refusals: ['connector_refused'],
      handle: async (c, { body }) => {
        ofStrangers.take('connector state', addressOf(c), LIMITS.rateConnectorState)
        await connectors.leave({ ...fromOutside(body), requestId: c.get('requestId') })
        return c.body(null, 204)
      },
    }),
  ]
}
