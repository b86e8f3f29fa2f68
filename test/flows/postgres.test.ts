// long: starts everything twice, beside a database server
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { request } from 'undici'
import { Browser } from '../support/browser.ts'
import { npmStart, ownConfig } from '../support/npm-start.ts'
import { ADMIN, answering, startPostgres } from '../support/postgres.ts'
import { Program } from '../support/programs.ts'

t.test('on Postgres: sign-in, restart, and a database that goes away and comes back', async (t) => {
  const server = await startPostgres({ teardown: (work) => t.after(work) })
  await server.run('CREATE DATABASE service')
  const url = `postgres://${ADMIN.user}:${encodeURIComponent(ADMIN.password)}@127.0.0.1:${server.port}/service`
  const { ports, file, edge } = await ownConfig(url)
  const ready = async () =>
    (await request(`http://127.0.0.1:${ports.public}/health/ready`)).statusCode

  const first = npmStart(t, file, '--log')
  await first.isUp
  const ada = new Browser()
  t.after(() => ada.close())
  const greeted = await ada.signIn(`${edge}/`, 'ada', first.password())
  t.match(greeted, { status: 200, url: `${edge}/`, text: /Hello, Ada Lovelace/ })
  const { rows } = await server.run('SELECT username FROM users ORDER BY username', 'service')
  t.match(rows, [{ username: 'ada' }], 'and there she is')

  t.equal(await ready(), 200)
  await server.kill()
  t.equal(await ready(), 503, 'it says so')
  t.match(await ada.fetch(`${edge}/`), { status: 200 }, 'the edge asks no database')
  const answer = await request(
    `http://127.0.0.1:${ports.public}/auth/realms/demo/.well-known/openid-configuration`,
  )
  t.equal(answer.statusCode, 503, 'what cannot be known is refused')
  await answer.body.dump()
  await server.start()
  await answering(async () => {
    if ((await ready()) !== 200) throw new Error('not yet')
  })
  const other = new Browser()
  t.after(() => other.close())
  t.match(await other.signIn(`${edge}/`, 'ada', first.password()), { status: 200, url: `${edge}/` })
  first.interrupt()
  await first.ended
  t.notMatch(first.output(), encodeURIComponent(ADMIN.password))
  t.notMatch(first.output(), ADMIN.password)

  const second = npmStart(t, file)
  await second.isUp
  t.equal(second.password(), first.password(), 'the same ada')
  t.match(await ada.fetch(`${edge}/`), { status: 200 }, 'still signed in')
  second.interrupt()
  await second.ended

  const withConfig = readFileSync(file, 'utf8')
  for (const [from, to, problem] of [
    [encodeURIComponent(ADMIN.password), 'wrong', /password for user "owner" was not accepted/],
    ['/service', '/missing', /there is no database "missing"; create it with: createdb/],
  ] as const) {
    writeFileSync(file, withConfig.replace(from, to))
    const program = new Program('control-plane/main.ts', ['--config', file])
    t.equal(await program.exited, 1)
    t.match(program.output, problem)
    t.match(program.output, /^control_plane\.database could not be opened: .*\n$/m, 'in one line')
  }
  writeFileSync(file, withConfig.replace('/service', ''))
  const program = new Program('control-plane/main.ts', ['--config', file])
  t.equal(await program.exited, 2)
  t.match(program.output, /control_plane\.database: .*name of the database is missing/)
})
