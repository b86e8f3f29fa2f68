/** A backup taken while programs write by the API, restored elsewhere and started there. */
// long: starts the control plane twice
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { request } from 'undici'
import { tenantBody } from '../support/application.ts'
import { freePort } from '../support/ports.ts'
import { Program, SECRETS } from '../support/programs.ts'

/** The copy takes many steps, and changes come between them. */
const FILLING_BYTES = 24 * 1024 * 1024
const BEFORE = 9
const USERS = '/tenants/acme/users'

void t.test('everything acknowledged before it began is there', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'backup-'))
  const programs: Program[] = []
  t.after(async () => {
    await Promise.all(programs.map((program) => program.stop('SIGKILL')))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const here = await controlPlaneIn(folder, 'here', programs)
  await here.start()
  const made = await here.operator('POST', '/tenants', tenantBody('acme', 'http://127.0.0.1:9'))
  t.equal(made.status, 201)
  const filler = new Database(join(here.dataDir, 'service.db'))
  filler.exec(`CREATE TABLE filling AS SELECT zeroblob(${FILLING_BYTES}) AS bytes`)
  filler.close()

  const history = writers(here)
  await history.reached(BEFORE)
  const known = history.acknowledged()
  const backup = join(folder, 'backup.db')
  const { code, output } = await here.command('backup', '--to', backup)
  t.match({ code, output }, { code: 0, output: /^Backed up to / })
  const { asked, failed } = await history.end()
  t.same(failed, [])
  await here.stop()

  const there = await controlPlaneIn(folder, 'there', programs)
  const restored = await there.command('restore', '--from', backup)
  t.match(restored, { code: 0, output: /^Restored from / })
  await there.start()
  const { body } = await there.operator('GET', `${USERS}?limit=200`)
  const found = (body['items'] as { username: string }[]).map(({ username }) => username)
  const has = (name: string) => found.includes(name)
  t.same(
    known.created.filter((name) => !known.removalAsked.includes(name) && !has(name)),
    [],
    `who was created (${known.created.length})`,
  )
  t.same(known.removed.filter(has), [], `who was removed is gone (${known.removed.length})`)
  const { body: tenant } = await there.operator('GET', '/tenants/acme')
  const round = Number(/^Round (\d+)$/.exec(String(tenant['name']))?.[1])
  t.ok(round >= known.round && round <= asked.round, `a change: ${known.round} ≤ ${round}`)

  const lastCreated = Math.max(...found.map(numberOf))
  t.ok(lastCreated <= asked.created, 'nobody whom no one asked for')
  const trail = trailIn(join(there.dataDir, 'service.db'))
  t.equal(trail.created, lastCreated + 1, 'the audit trail tells of the same moment')
  t.equal(trail.created - trail.removed, found.length, 'and knows who is gone')
})

const nameOf = (number: number) => `user-${number}`
const numberOf = (name: string) => Number(name.slice('user-'.length))

/** One creates people, one removes each third of them, one renames their tenant: each waits for its answer. */
function writers({ operator }: ControlPlane) {
  const created: { name: string; id: string }[] = []
  const [removed, removalAsked, failed] = [[], [], []] as [string[], string[], string[]]
  let [askedUsers, round, askedRound, isOver] = [-1, 0, 0, false]
  const expecting = (status: number, { status: got, body }: Answer) => {
    if (got !== status) failed.push(`${got} ${JSON.stringify(body)}`)
    return got === status
  }
  async function create() {
    while (!isOver) {
      const name = nameOf(++askedUsers)
      const user = { username: name, email: `${name}@example.test`, invite: true }
      const answer = await operator('POST', USERS, user)
      if (expecting(201, answer)) created.push({ name, id: String(answer.body['user_id']) })
    }
  }
  async function remove() {
    for (let next = 0; !isOver;) {
      const one = created[next]
      if (one === undefined) await operator('GET', '/tenants/acme') // nobody to remove by now
      else {
        next += 3
        removalAsked.push(one.name)
        if (expecting(204, await operator('DELETE', `${USERS}/${one.id}`))) removed.push(one.name)
      }
    }
  }
  async function rename() {
    while (!isOver) {
      askedRound++
      const answer = await operator('PATCH', '/tenants/acme', { name: `Round ${askedRound}` })
      if (expecting(200, answer)) round = askedRound
    }
  }
  const all = Promise.all([create(), remove(), rename()])
  return {
    async reached(count: number) {
      while (Math.min(created.length, 3 * removed.length, round) < count && failed.length === 0)
        await operator('GET', '/tenants/acme')
    },
    acknowledged: () => ({
      created: created.map(({ name }) => name),
      removed: [...removed],
      // what is asked for when the backup begins may be in it or not
      removalAsked: Array.from({ length: 1 + Math.ceil(created.length / 3) }, (_, at) =>
        nameOf(3 * at),
      ),
      round,
    }),
    async end() {
      isOver = true
      await all
      return { asked: { created: askedUsers, round: askedRound }, failed }
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

type ControlPlane = Awaited<ReturnType<typeof controlPlaneIn>>

async function controlPlaneIn(folder: string, name: string, programs: Program[]) {
  const [dataDir, config] = [join(folder, name), join(folder, `${name}.yaml`)]
  const [port, fleetPort] = [await freePort(), await freePort()]
  const text = `base_url: http://localhost:${port}
data_dir: ${dataDir}
control_plane: { listen: "127.0.0.1:${port}", fleet_listen: "127.0.0.1:${fleetPort}", database: sqlite }
edge_url: http://{hostname}:9
gateway: { listen: "127.0.0.1:9", control_plane: "http://127.0.0.1:${fleetPort}" }
`
  writeFileSync(config, text)
  const run = (...args: string[]) => {
    const program = new Program('control-plane/main.ts', [...args, '--config', config], SECRETS)
    programs.push(program)
    return program
  }
  let running: Program | undefined
  return {
    dataDir,
    async start() {
      running = run()
      await running.ready
    },
    stop: async () => running?.stop(),
    async command(...args: string[]) {
      const program = run(...args)
      return { code: await program.exited, output: program.output }
    },
    async operator(method: string, path: string, body?: unknown): Promise<Answer> {
      const key = SECRETS.SERVICE_OPERATOR_KEY
      const answer = await request(`http://127.0.0.1:${port}/api/v1/operator${path}`, {
        method: method as 'GET',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      })
      const said = await answer.body.text()
      return {
        status: answer.statusCode,
        body: said === '' ? {} : (JSON.parse(said) as Record<string, unknown>),
      }
    },
  }
}

function trailIn(file: string) {
  const database = new Database(file, { readonly: true })
  const count = (action: string) =>
    Number(database.prepare('SELECT count(*) FROM audit WHERE action = ?').pluck().get(action))
  const trail = { created: count('user.created'), removed: count('user.removed') }
  database.close()
  return trail
}
