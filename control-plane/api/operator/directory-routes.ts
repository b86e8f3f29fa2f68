/** A tenant's own database as the source of its users. */
import { Hono } from 'hono'
import type * as v from 'valibot'
import type { DryRun } from '../../directory/dry-run.ts'
import type {
  NewDirectory,
  StoredDirectory,
  UserDirectories,
} from '../../directory/user-directories.ts'
import type { Tenants } from '../../tenants/tenants.ts'
import type { ApiEnv } from '../api-env.ts'
import { readJson } from '../body.ts'
import { DryRunBody, UserDirectoryBody } from './directory-fields.ts'
import { iso } from './views.ts'

export interface DirectoryRoutesWorld {
  readonly tenants: Pick<Tenants, 'get'>
  readonly directories: UserDirectories
}

const PORTS = { postgres: 5432, mysql: 3306 } as const

export function directoryRoutes({ tenants, directories }: DirectoryRoutesWorld) {
  const app = new Hono<ApiEnv>()

  app.put('/:id/user-directory', async (c) => {
    const { login, ...body } = await readJson(c, UserDirectoryBody)
    const { tenantId } = await tenants.get(c.req.param('id'))
    const result = await directories.put(tenantId, toDirectory(body), login, c.var.actor)
    return c.json({ ...directoryView(result.stored), ...triedView(result.tried) })
  })

  app.get('/:id/user-directory', async (c) => {
    const { tenantId } = await tenants.get(c.req.param('id'))
    return c.json(directoryView(await directories.get(tenantId)))
  })

  /** Answers 200 also where something is wrong: that is what was asked for. */
  app.post('/:id/user-directory/dry-run', async (c) => {
    const { login } = await readJson(c, DryRunBody)
    const { tenantId } = await tenants.get(c.req.param('id'))
    return c.json(triedView(await directories.dryRun(tenantId, login)))
  })

  app.delete('/:id/user-directory', async (c) => {
    const { tenantId } = await tenants.get(c.req.param('id'))
    await directories.remove(tenantId, c.var.actor)
    return c.body(null, 204)
  })

  return app
}

type DirectoryBody = Omit<v.InferOutput<typeof UserDirectoryBody>, 'login'>

function toDirectory({ ca_pem: caPem, port, password, ...same }: DirectoryBody): NewDirectory {
  return { ...same, caPem, password, port: port ?? PORTS[same.kind] }
}

/** Everything but the password, which nobody gets to see again. */
function directoryView({ settings, updatedAtMs }: StoredDirectory) {
  const { kind, host, port, database, username, tls, caPem, query, columns } = settings
  return {
    kind,
    host,
    port,
    database,
    username,
    tls,
    ca_pem: caPem,
    query,
    columns,
    updated_at: iso(updatedAtMs),
  }
}

function triedView({ steps, refusal, sample }: DryRun) {
  return { ok: refusal === undefined, steps, sample }
}
