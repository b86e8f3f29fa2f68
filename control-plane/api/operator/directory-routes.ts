/** A tenant's own database as the source of its users. */
import * as v from 'valibot'
import { STEPS, type DryRun } from '../../user-directory/dry-run.ts'
import { DIRECTORY_KINDS, TLS_MODES } from '../../user-directory/settings.ts'
import type { StoredDirectory } from '../../user-directory/user-directories.ts'
import { count, described, time } from '../../requests/described.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { DryRunBody, toDirectory, UserDirectoryBody } from '../../requests/directory-fields.ts'
import { viewOf } from '../../requests/field-names.ts'
import type { ApiWorld } from '../world.ts'

const Tried = v.strictObject({
  ok: described(v.boolean(), 'Whether a sign-in would work, as far as it could be tested.'),
  steps: v.array(
    v.strictObject({
      step: v.picklist(STEPS),
      status: v.picklist(['pass', 'fail', 'skip']),
      detail: v.string(),
    }),
  ),
  sample: described(
    v.nullable(v.record(v.string(), v.unknown())),
    'The user found with `login`, masked.',
  ),
})

const Directory = v.strictObject({
  kind: v.picklist(DIRECTORY_KINDS),
  host: v.string(),
  port: count,
  database: v.string(),
  username: v.string(),
  tls: v.picklist(TLS_MODES),
  ca_pem: v.nullable(v.string()),
  query: v.string(),
  columns: v.record(v.string(), v.string()),
  updated_at: time,
})

const TriedDirectory = v.strictObject({ ...Directory.entries, ...Tried.entries })

const operator = endpointsOf('directory', 'operator')
const DIRECTORY = '/api/v1/operator/tenants/{tenant_id}/user-directory'

export function directoryEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { tenants, directories } = world
  return [
    operator.put(DIRECTORY, {
      summary:
        "Connects the tenant's own database as the source of its users, after a successful test.",
      body: UserDirectoryBody,
      example: {
        kind: 'postgres',
        host: 'db.acme.example',
        database: 'app',
        username: 'sign_in',
        password: '<DATABASE_PASSWORD>',
        query: 'SELECT id, username, email, name, hash FROM users WHERE email = $1',
        columns: {
          id: 'id',
          username: 'username',
          email: 'email',
          name: 'name',
          password_hash: 'hash',
        },
        login: 'ada@acme.example',
      },
      answers: {
        200: json(TriedDirectory, 'The settings without the password, and the test results.'),
      },
      refusals: ['directory_refused', 'changed_meanwhile', 'unavailable'],
      handle: async (c, { path, body: { login, ...body } }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        const result = await directories.put(
          tenantId,
          toDirectory(body),
          login,
          'operator',
          c.var.actor,
        )
        return c.json({ ...directoryView(result.stored), ...triedView(result.tried) })
      },
    }),
    operator.get(DIRECTORY, {
      summary: 'Shows the settings without the password.',
      answers: { 200: json(Directory, 'The settings.') },
      refusals: ['directory_not_found'],
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        return c.json(directoryView(await directories.get(tenantId)))
      },
    }),
    /** Answers 200 also where something is wrong: that is what was asked for. */
    operator.post(`${DIRECTORY}/dry-run`, {
      summary: 'Tests everything a sign-in needs, step by step, and changes nothing.',
      body: DryRunBody,
      example: { login: 'ada@acme.example' },
      answers: { 200: json(Tried, 'The result of each step, even if one fails.') },
      refusals: ['directory_not_found'],
      handle: async (c, { path, body }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        return c.json(triedView(await directories.dryRun(tenantId, body.login)))
      },
    }),
    operator.delete(DIRECTORY, {
      summary: 'Disconnects the database: only users stored here can sign in.',
      answers: { 204: nothing('The settings are deleted.') },
      refusals: ['directory_not_found'],
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        await directories.remove(tenantId, c.var.actor)
        return c.body(null, 204)
      },
    }),
  ]
}

/** Everything but the password, which nobody gets to see again. */
const ofDirectory = viewOf(Directory)

const directoryView = ({ settings, updatedAtMs }: StoredDirectory) =>
  ofDirectory({
    ...settings,
    columns: settings.columns as Record<string, string>,
    updatedAt: updatedAtMs,
  })

function triedView({ steps, refusal, sample }: DryRun) {
  return { ok: refusal === undefined, steps, sample }
}
