/** People who wait for an account that they have asked for themselves. */
import * as v from 'valibot'
import { described, time } from '../../requests/described.ts'
import { viewOf } from '../../requests/field-names.ts'
import { NothingBody } from '../../requests/fields.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { User } from '../answer-fields.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import type { ApiWorld } from '../world.ts'
import { userView } from './views.ts'

const operator = endpointsOf('people', 'operator')
const SIGN_UPS = '/api/v1/operator/tenants/{tenant_id}/sign-ups'
const SIGN_UP = `${SIGN_UPS}/{sign_up_id}` as const

const SignUpAnswer = v.strictObject({
  sign_up_id: v.string(),
  email: described(v.string(), 'Confirmed by a code that was sent to it.'),
  name: v.string(),
  ip: described(v.string(), 'Where the request came from.'),
  created_at: time,
  expires_at: described(time, 'When the request is deleted if nobody decides about it.'),
})
const signUpView = viewOf(SignUpAnswer)

export function signUpEndpoints({ tenants, signUps }: ApiWorld): readonly Endpoint[] {
  return [
    operator.get(SIGN_UPS, {
      summary: 'Lists people who asked for an account and wait for approval, oldest first.',
      query: PAGE_QUERY,
      answers: { 200: json(pageOf(SignUpAnswer), 'One page of requests.') },
      handle: async (c, { path, query }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        return c.json(mapPage(await signUps.list(tenantId, query), signUpView))
      },
    }),
    operator.post(`${SIGN_UP}/approve`, {
      summary: 'Creates the account that somebody asked for, and emails them.',
      body: NothingBody,
      answers: { 201: json(User, 'The user, who can sign in now.') },
      refusals: ['sign_up_not_found', 'sign_up_closed'],
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        return c.json(userView(await signUps.approve(tenantId, path.sign_up_id, c.var.actor)), 201)
      },
    }),
    operator.delete(SIGN_UP, {
      summary: 'Refuses a request for an account, deletes what it held, and emails the person.',
      answers: { 204: nothing('The request is gone.') },
      refusals: ['sign_up_not_found'],
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        await signUps.refuse(tenantId, path.sign_up_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
  ]
}
