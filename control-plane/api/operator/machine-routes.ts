/** Machines: services that come in with an id and a secret of their own. */
import * as v from 'valibot'
import { Refusal } from '../../../shared/errors.ts'
import type { Machine, Machines } from '../../machines/machines.ts'
import { readPublicKey } from '../../machines/public-key.ts'
import { described } from '../../requests/described.ts'
import { fromOutside, viewOf } from '../../requests/field-names.ts'
import {
  MachineAnswer,
  MachineChangesBody,
  MachineSecretAnswer,
  NewMachineBody,
  NewMachineKeyBody,
  NewMachineSecretBody,
} from '../../requests/machine-fields.ts'
import { pageOf } from '../../requests/paging.ts'
import { Enforced } from '../answer-fields.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { enforcedAnswers, WAITS, type EnforcedAnswersWorld } from './enforced-answers.ts'

interface MachineEndpointsWorld extends EnforcedAnswersWorld {
  readonly machines: Machines
}

const operator = endpointsOf('machines', 'operator')
const SERVICES = '/api/v1/operator/tenants/{tenant_id}/services'
const SERVICE = `${SERVICES}/{service_id}` as const
const SECRETS = `${SERVICE}/secrets` as const

const enforced = described(Enforced, 'Which gateways go by it.')
const ChangedMachineAnswer = v.strictObject({ ...MachineAnswer.entries, enforced })
const NewSecretAnswer = v.strictObject({
  ...MachineSecretAnswer.entries,
  secret: described(
    v.string(),
    'Shown only once. Send it as Service-Client-Secret, or to the token endpoint.',
  ),
  enforced,
})
const NewKeyAnswer = v.strictObject({ ...MachineSecretAnswer.entries, enforced })
const GoneMachineAnswer = v.strictObject({ service_id: v.string(), enforced })
const GoneSecretAnswer = v.strictObject({ secret_id: v.string(), enforced })

const secretFields = viewOf(MachineSecretAnswer)
const ofSecret = (secret: Machine['secrets'][number]) =>
  secretFields({ ...secret, lastUsedAt: secret.usedAt })
const ofMachine = viewOf(MachineAnswer)
const machineView = ({ seenAt: lastSeenAt, seenIp: lastSeenIp, ...machine }: Machine) => {
  const uses = { lastSeenAt, lastSeenIp, requestsLastDay: machine.requests }
  return ofMachine({ ...machine, ...uses, secrets: machine.secrets.map(ofSecret) })
}

export function machineEndpoints(world: MachineEndpointsWorld): readonly Endpoint[] {
  const { machines } = world
  const enforcement = enforcedAnswers(world)
  return [
    operator.get(SERVICES, {
      summary: 'Lists the machines: when each was last seen, and when its secrets end.',
      answers: { 200: json(pageOf(MachineAnswer), 'Every machine, oldest first.') },
      handle: async (c, { path }) => {
        const items = (await machines.list(path.tenant_id)).map(machineView)
        return c.json({ items, next: null })
      },
    }),
    operator.post(SERVICES, {
      summary: 'Creates a machine: a service with credentials of its own.',
      description:
        'It opens nothing until an access rule names it with `service`, and it has a secret.',
      body: NewMachineBody,
      example: { name: 'CI' },
      answers: { 201: json(MachineAnswer, 'The machine, without secrets.') },
      refusals: ['services_full', 'tenant_too_large'],
      handle: async (c, { path, body }) =>
        c.json(machineView(await machines.create(path.tenant_id, body.name, c.var.actor)), 201),
    }),
    operator.get(SERVICE, {
      summary: 'Shows a machine.',
      answers: { 200: json(MachineAnswer, 'The machine.') },
      refusals: ['service_not_found'],
      handle: async (c, { path }) =>
        c.json(machineView(await machines.one(path.tenant_id, path.service_id))),
    }),
    operator.patch(SERVICE, {
      summary: 'Renames, disables or enables a machine.',
      description: `A disabled machine’s tokens stop working, and what it has open ends within a second. ${WAITS}`,
      body: MachineChangesBody,
      example: { is_disabled: true },
      answers: { 200: json(ChangedMachineAnswer, 'The machine.') },
      refusals: ['service_not_found'],
      handle: async (c, { path: { tenant_id: tenantId, service_id: serviceId }, body }) => {
        const changed = await machines.update(tenantId, serviceId, fromOutside(body), c.var.actor)
        return c.json({ ...machineView(changed), enforced: await enforcement.change(tenantId) })
      },
    }),
    operator.delete(SERVICE, {
      summary: 'Deletes a machine that no rule names, and its secrets.',
      description: `What it has open ends within a second. ${WAITS}`,
      answers: {
        202: json(GoneMachineAnswer, 'It is deleted, but a gateway has not confirmed it yet.'),
        204: nothing('The machine is deleted, at every gateway.'),
      },
      refusals: ['service_not_found', 'service_used'],
      handle: async (c, { path: { tenant_id: tenantId, service_id: serviceId } }) => {
        await machines.remove(tenantId, serviceId, c.var.actor)
        const told = await world.changeEnforced(tenantId)
        return enforcement.gone(c, tenantId, told, { service_id: serviceId })
      },
    }),
    operator.post(SECRETS, {
      summary: 'Creates a secret for a machine, beside the one that it has.',
      description: `Two can live at once, for 90 days by default and a year at most. ${WAITS}`,
      body: NewMachineSecretBody,
      example: { expires_in: 7_776_000 },
      answers: { 201: json(NewSecretAnswer, 'The secret.') },
      refusals: ['service_not_found', 'service_secrets_full'],
      handle: async (c, { path: { tenant_id: tenantId, service_id: serviceId }, body }) => {
        const { expires_in: seconds } = body
        const made = await machines.addSecret(tenantId, serviceId, seconds, c.var.actor)
        const told = await enforcement.change(tenantId)
        return c.json({ ...ofSecret(made), secret: made.secret, enforced: told }, 201)
      },
    }),
    operator.post(`${SERVICE}/keys`, {
      summary: 'Adds a public key of a machine, beside the secret or key that it has.',
      description: `For \`private_key_jwt\` at the token endpoint (RFC 7523). It counts as one of the two credentials of a machine, is listed and revoked as a secret is, and ends as one does. ${WAITS}`,
      body: NewMachineKeyBody,
      example: {
        public_key: {
          kty: 'OKP',
          crv: 'Ed25519',
          x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
        },
        expires_in: 7_776_000,
      },
      answers: { 201: json(NewKeyAnswer, 'The key.') },
      refusals: ['service_not_found', 'service_secrets_full'],
      handle: async (c, { path: { tenant_id: tenantId, service_id: serviceId }, body }) => {
        const { expires_in: seconds, public_key: given } = body
        const read = readPublicKey(given)
        if (read.kind === 'wrong')
          throw new Refusal(
            'field_invalid',
            { field: 'public_key' },
            `"public_key" must be ${read.wish}.`,
          )
        const wished = { key: read.key, seconds }
        const made = await machines.addKey(tenantId, serviceId, wished, c.var.actor)
        return c.json({ ...ofSecret(made), enforced: await enforcement.change(tenantId) }, 201)
      },
    }),
    operator.delete(`${SECRETS}/{secret_id}`, {
      summary: 'Revokes a secret or key of a machine.',
      description: `Tokens that it got stop working as well, and what came in with it and is open ends within a second. ${WAITS}`,
      answers: {
        202: json(GoneSecretAnswer, 'It is revoked, but a gateway has not confirmed it yet.'),
        204: nothing('The secret is revoked, at every gateway.'),
      },
      refusals: ['service_not_found', 'service_secret_not_found'],
      handle: async (c, { path }) => {
        const { tenant_id: tenantId, service_id: serviceId, secret_id: secretId } = path
        await machines.revokeSecret(tenantId, serviceId, secretId, c.var.actor)
        const told = await world.changeEnforced(tenantId)
        return enforcement.gone(c, tenantId, told, { secret_id: secretId })
      },
    }),
  ]
}
