/** Into the console: for who holds the operator key, and has no account yet, or none any more. */
import * as v from 'valibot'
import type { OperatorLinks } from '../../console/access/operator-links.ts'
import { described, time } from '../answer-fields.ts'
import { endpoint, json, type Endpoint } from '../endpoint.ts'
import { iso } from './views.ts'

export interface ConsoleEndpointsWorld {
  readonly consoleAccess: { readonly links: Pick<OperatorLinks, 'make'> }
}

const OperatorLinkBody = v.strictObject({
  force: v.optional(
    described(v.boolean('true or false'), 'Also where there is an operator already.'),
    false,
  ),
})

const OperatorLink = v.strictObject({
  url: described(v.string(), 'Whoever opens it first becomes an operator: a secret.'),
  expires_at: time,
})

export function consoleEndpoints({ consoleAccess }: ConsoleEndpointsWorld): readonly Endpoint[] {
  return [
    endpoint(
      {
        method: 'POST',
        path: '/api/v1/operator/console/operator-links',
        group: 'fleet',
        caller: 'operator',
        summary: 'Makes a link that lets one person become an operator of the console.',
        description:
          'For one use within 15 minutes; the link before it is void. Refused where there is an ' +
          'operator already, unless forced.',
        body: OperatorLinkBody,
        example: { force: true },
        answers: { 201: json(OperatorLink, 'The link.') },
        refusals: ['operator_exists'],
      },
      async (c, { body }) => {
        const { url, expiresAtMs } = await consoleAccess.links.make(body.force, c.var.actor)
        return c.json({ url, expires_at: iso(expiresAtMs) }, 201)
      },
    ),
  ]
}
