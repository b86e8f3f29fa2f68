/** A tenant's own database: tried before it is saved, its password in no page, removed with care. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { upsertPolicy } from '../../../control-plane/store/queries/policies.ts'
import { startConsole } from '../../support/console.ts'
import { movableClock } from '../../support/control-plane.ts'
import { NO_POSTGRES, startPostgres } from '../../support/postgres.ts'
import {
  ADA_EMAIL,
  COLUMNS,
  fillDatabase,
  PASSWORD,
  QUERIES,
  READER,
} from '../user-directory/directory-world.ts'

const DIRECTORY = '/console/tenants/acme/directory'
const SECRET = READER.password.slice(0, 11)

const formFor = (port: number) => ({
  kind: 'postgres',
  host: '127.0.0.1',
  port: String(port),
  database: 'app',
  username: READER.username,
  password: READER.password,
  tls: 'off',
  ca_pem: '',
  query: QUERIES.postgres,
  ...Object.fromEntries(Object.entries(COLUMNS).map(([role, name]) => [`column_${role}`, name])),
  login: '',
})

const draftIn = (text: string) => /name="draft" value="([^"]+)"/.exec(text)?.[1] ?? ''

void t.test(
  'a database is tried, saved and used; its password is shown nowhere',
  { skip: NO_POSTGRES },
  async (t) => {
    const database = await startPostgres(t)
    await fillDatabase(database)
    const { services, person } = await startConsole(t, { clock: movableClock() })
    const admin = await person('operator')
    t.match((await admin.get(DIRECTORY)).text, /No directory.*Connect a database/s)
    t.match((await admin.get(`${DIRECTORY}/edit`)).text, 'Database password')

    const form = formFor(database.port)
    const wrong = await admin.post(`${DIRECTORY}/try`, { ...form, column_name: 'nickname' })
    t.match(wrong, {
      status: 422,
      text: /The test failed.*Find the columns.*\(failed\).*nickname/s,
    })
    t.match(wrong.text, /value="nickname"/, 'what was typed stays')
    t.notMatch(wrong.text, SECRET)
    const unknown = await admin.post(`${DIRECTORY}/try`, { ...form, login: 'zoe' })
    t.match(unknown, { status: 422, text: /id="login-error">The query finds no user/ })

    const tried = await admin.post(`${DIRECTORY}/try`, { ...form, login: ADA_EMAIL })
    t.match(tried, {
      status: 200,
      text: /The test passed.*User found \(masked\)/s,
    })
    t.notMatch(tried.text, SECRET)
    await t.rejects(
      services.directories.get('acme'),
      { code: 'directory_not_found' },
      'not saved yet',
    )
    const saved = await admin.post(DIRECTORY, { draft: draftIn(tried.text) })
    t.match(saved, { status: 303 })
    const page = await admin.get(saved.location)
    t.match(
      page.text,
      /User directory saved\..*127\.0\.0\.1:.*reader.*stored encrypted, never shown/s,
    )
    for (const path of [DIRECTORY, `${DIRECTORY}/edit`, '/console/tenants/acme/audit'])
      t.notMatch((await admin.get(path)).text, SECRET, path)
    t.match(await services.users.authenticate('acme', ADA_EMAIL, PASSWORD), { kind: 'ok' })

    const checked = await admin.post(`${DIRECTORY}/check`, { login: ADA_EMAIL })
    t.match(checked.text, /The test passed.*User found \(masked\)/s)
    t.match((await admin.post(`${DIRECTORY}/check`, { login: 'zoe' })).text, 'The test failed')

    const kept = await admin.post(`${DIRECTORY}/try`, { ...form, password: '' })
    t.match(kept, { status: 200 }, 'the password that is kept goes on')
    const moved = await admin.post(`${DIRECTORY}/try`, {
      ...form,
      password: '',
      host: 'db.evil.example',
    })
    t.match(moved, { status: 422, text: /id="password-error">/ }, 'but never to another host')

    t.match(
      (await admin.get(`${DIRECTORY}/remove`)).text,
      /People who are only in app on 127\.0\.0\.1/,
    )
    const again = /People can create accounts themselves again/
    t.notMatch((await admin.get(`${DIRECTORY}/remove`)).text, again)
    const policy = { tenantId: 'acme', name: 'password', settings: { sign_up: 'open' } } as const
    await services.store.change(({ queries }) => upsertPolicy(queries, { ...policy, updatedAt: 1 }))
    t.match((await admin.get(`${DIRECTORY}/remove`)).text, again, 'it was opened before')
    t.match(await admin.post(`${DIRECTORY}/remove`), { status: 303 })
    t.match((await admin.get(DIRECTORY)).text, 'No directory')
  },
)

void t.test(
  'what was tried is saved by the person who tried it, soon, and as it was',
  { skip: NO_POSTGRES },
  async (t) => {
    const database = await startPostgres(t)
    await fillDatabase(database)
    const clock = movableClock()
    const { services, person, signedIn } = await startConsole(t, { clock })
    const admin = await person('operator')
    const other = await person('operator')
    const both = await person('operator')
    const tried = await admin.post(`${DIRECTORY}/try`, formFor(database.port))
    const draft = draftIn(tried.text)
    t.match(draft, /^v1\./)
    t.notMatch(Buffer.from(draft.split('.')[2] ?? '', 'base64url').toString('latin1'), 'reads')
    t.match(await other.post(DIRECTORY, { draft }), { status: 409 }, 'somebody else')
    const ofGrace = draftIn((await both.post(`${DIRECTORY}/try`, formFor(database.port))).text)
    t.match(
      await both.post('/console/tenants/other/directory', { draft: ofGrace }),
      { status: 409 },
      'another tenant',
    )
    t.match(
      await admin.post(DIRECTORY, { draft: `${draft.slice(0, -4)}AAAA` }),
      { status: 409 },
      'changed',
    )
    t.match(await admin.post(DIRECTORY, { draft: '' }), { status: 409 }, 'none')
    clock.advance(LIMITS.consoleKeptFormMs + 1)
    const late = await (await signedIn(admin.userId)).post(DIRECTORY, { draft })
    t.match(late, { status: 409, text: /test has expired/ })
    t.match(late.text, 'value="127.0.0.1"', 'what was typed is there once more')
    await t.rejects(services.directories.get('acme'), { code: 'directory_not_found' })
    const before = await signedIn(admin.userId)
    const soon = draftIn((await before.post(`${DIRECTORY}/try`, formFor(database.port))).text)
    const fresh = await signedIn(admin.userId) // in another tab
    t.match(await fresh.post(DIRECTORY, { draft: soon }), { status: 303 })
  },
)

void t.test(
  'what the login of an operator reads, an operator says; an administrator says which column is what',
  { skip: NO_POSTGRES },
  async (t) => {
    const database = await startPostgres(t)
    await fillDatabase(database)
    const { services, person } = await startConsole(t, { clock: movableClock() })
    const admin = await person('acme')
    const operator = await person('operator')
    const form = formFor(database.port)
    const place = /Only an operator of the service can change &quot;[a-z_]+&quot;/
    t.match(await admin.get(DIRECTORY), { text: /No directory.*Ask an operator of this service/s })
    t.match(await admin.get(`${DIRECTORY}/edit`), { status: 404 }, 'not begun')
    t.match(await admin.post(`${DIRECTORY}/try`, form), { status: 404 })

    const tried = await operator.post(`${DIRECTORY}/try`, form)
    t.match(await operator.post(DIRECTORY, { draft: draftIn(tried.text) }), { status: 303 })
    for (const other of [
      { kind: 'mysql', query: QUERIES.mysql },
      { host: '10.0.0.1' },
      { port: '22' },
      { database: 'postgres' },
      { username: 'postgres' },
      { tls: 'verify' },
      { query: 'SELECT * FROM hidden WHERE email = $1' },
    ])
      for (const password of ['', READER.password])
        t.match(
          await admin.post(`${DIRECTORY}/try`, { ...form, ...other, password }),
          { status: 422, text: place },
          `nobody looks around with our login: ${Object.keys(other).join()}`,
        )
    const edit = await admin.get(`${DIRECTORY}/edit`)
    t.match(edit.text, /Set by an operator.*127\.0\.0\.1.*action="[^"]*\/directory\/columns"/s)
    t.notMatch(edit.text, 'name="host"')

    const columns = Object.fromEntries(
      Object.entries(form).filter(([name]) => name.startsWith('column_')),
    )
    const own = { ...columns, password: '', login: ADA_EMAIL }
    t.match(await admin.post(`${DIRECTORY}/columns`, { ...own, column_name: 'nickname' }), {
      status: 422,
      text: /nickname/,
    })
    const renamed = await admin.post(`${DIRECTORY}/columns`, { ...own, column_name: 'login' })
    t.match(renamed, { status: 200, text: /The test passed/ })
    t.match(await admin.post(DIRECTORY, { draft: draftIn(renamed.text) }), { status: 303 })
    t.match(await services.directories.get('acme'), {
      settings: { database: 'app', columns: { name: 'login' } },
    })

    const changed = await admin.post(`${DIRECTORY}/columns`, own)
    await services.directories.remove('acme', { name: 'operator', requestId: 'r1' })
    t.match(await admin.post(DIRECTORY, { draft: draftIn(changed.text) }), {
      text: /Only an operator of the service/,
    })
    await t.rejects(services.directories.get('acme'), { code: 'directory_not_found' })
    t.match(await admin.post(`${DIRECTORY}/columns`, own), { status: 404 })
  },
)

void t.test(
  'a password that is kept goes to no other place and no other database',
  { skip: NO_POSTGRES },
  async (t) => {
    const database = await startPostgres(t)
    await fillDatabase(database)
    const { person } = await startConsole(t, { clock: movableClock() })
    const operator = await person('operator')
    const form = formFor(database.port)
    const tried = await operator.post(`${DIRECTORY}/try`, form)
    t.match(await operator.post(DIRECTORY, { draft: draftIn(tried.text) }), { status: 303 })
    for (const other of [{ host: 'db.evil.example' }, { port: '22' }, { database: 'postgres' }])
      t.match(
        await operator.post(`${DIRECTORY}/try`, { ...form, ...other, password: '' }),
        { status: 422, text: /id="password-error">/ },
        Object.keys(other).join(),
      )
  },
)

void t.test('what is wrong with the settings stands beside each field', async (t) => {
  const clock = movableClock()
  const { person, signedIn } = await startConsole(t, { clock })
  const admin = await person('operator')
  const hostile = '"></textarea><script>alert(1)</script>'
  const answer = await admin.post(`${DIRECTORY}/try`, {
    ...formFor(1),
    host: hostile,
    port: '99999',
    query: hostile,
    column_id: '',
    ca_pem: 'no certificate',
  })
  t.equal(answer.status, 422)
  for (const field of ['host', 'port', 'column_id', 'ca_pem'])
    t.match(answer.text, `id="${field}-error"`, field)
  t.notMatch(answer.text, '<script>alert')
  const query = await admin.post(`${DIRECTORY}/try`, { ...formFor(1), query: 'DELETE FROM people' })
  t.match(query, { status: 422, text: /id="query-error">Must be one SELECT/ })
  t.notMatch(query.text, SECRET)
  const nobody = await admin.post(`${DIRECTORY}/try`, formFor(1))
  t.match(nobody, { status: 422, text: /Connect.*\(failed\)/s })
  const old = await signedIn(admin.userId, clock.nowMs() - LIMITS.consoleFreshMs - 1)
  t.match(await old.get(`${DIRECTORY}/edit`), { status: 302 })
  t.match(await old.post(`${DIRECTORY}/try`, formFor(1)), { status: 403 })
  t.match(await old.post(DIRECTORY, { draft: 'x' }), { status: 403 })
  t.match(await admin.post(`${DIRECTORY}/check`, { login: 'ada' }), { status: /404|422/ })
})
