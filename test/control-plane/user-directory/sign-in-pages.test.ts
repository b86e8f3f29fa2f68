/** What people see whose application keeps its users itself: from the page to the token. */
import t from 'tap'
import { NO_POSTGRES, startPostgres } from '../../support/postgres.ts'
import { ACTOR, Browser, signIn, startWorld, userinfoStatus } from '../realm/realm-world.ts'
import { begin, enrolApp, isAskingForCode, recordedSignIns, setPolicy } from '../realm/steps.ts'
import { ADA, ADA_EMAIL, COLUMNS, fillDatabase, PASSWORD, READER } from './directory-world.ts'

t.test('signing in to a realm whose users are in Postgres', { skip: NO_POSTGRES }, async (t) => {
  const database = await startPostgres(t)
  await fillDatabase(database)
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const query = 'SELECT * FROM people WHERE $1 IN (lower(email), lower(login), id::text)'
  const settings = {
    kind: 'postgres' as const,
    host: '127.0.0.1',
    port: database.port,
    database: 'app',
    ...READER,
    tls: 'off' as const,
    caPem: null,
    query,
    columns: COLUMNS,
  }
  await world.directories.put('acme', settings, undefined, 'operator', ACTOR)
  const credentials = { username: ADA_EMAIL, password: PASSWORD }
  const browser = new Browser(world.baseUrl)

  await t.test('gives a session like any other', async (t) => {
    const { claims, tokens } = await signIn(browser, acme, {}, credentials)
    t.match(claims, { name: 'Person of argon2-cffi argon2id', email: /^argon2-cffi-argon2id@/i })
    t.equal(await userinfoStatus(acme, tokens.access_token), 200)
    const again = await begin(world, acme, { prompt: 'none' }, browser)
    t.match(again.page.url, /[?&]code=/)
  })

  await t.test('says it when the database is down, and leaves sessions alone', async (t) => {
    await database.kill()
    const person = await begin(world, acme)
    const page = await person.send(credentials)
    t.equal(page.response.status, 503)
    t.ok(Number(page.response.headers.get('retry-after')) > 0)
    t.match(page.html, /We cannot check passwords right now/)
    t.match(page.html, /Your password is not the problem/)
    t.notMatch(page.html, new RegExp(`127\\.0\\.0\\.1:${database.port}|reader|people`))
    const german = await person.send(credentials, { 'accept-language': 'de' })
    t.equal(german.response.status, 503)
    t.match(german.html, /Wir können gerade keine Passwörter prüfen/)
    const silent = await begin(world, acme, { prompt: 'none' }, browser)
    t.match(silent.page.url, /[?&]code=/, 'who is signed in stays so')
    const failures = (await recordedSignIns(world)).filter(({ isFailure }) => isFailure)
    t.same(failures, [], 'and nobody comes nearer to a lock')

    await database.start()
    const back = await person.send(credentials)
    t.match(back.url, /[?&]code=/, 'the same page goes on when it is back')
  })

  await t.test('says it when the account does not fit, to its owner alone', async (t) => {
    const own = { username: 'own', email: 'bcrypt-2a@people.test', name: 'Own', password: PASSWORD }
    await world.users.create('acme', own, ACTOR)
    const owner = await begin(world, acme)
    const page = await owner.send({ username: 'bcrypt-2a', password: PASSWORD })
    t.equal(page.response.status, 403)
    t.match(page.html, /Your account is not ready yet/)
    const guess = await owner.send({ username: 'bcrypt-2a', password: 'wrong' })
    t.equal(guess.response.status, 422)
    const nobody = await owner.send({ username: 'nobody', password: 'wrong' })
    t.equal(nobody.response.status, 422)
    const warned = world.logged.filter((line) => line.includes('email_taken'))
    t.equal(warned.length, 1, 'and tells the operator which of our users is in the way')
  })

  await t.test('cannot be done with a password that an own user has here', async (t) => {
    const person = await begin(world, acme)
    const page = await person.send({ username: 'ada', password: PASSWORD })
    t.equal(page.response.status, 422)
  })

  /**
   * The attack: the query takes a number as well, which we do not know as a login. By it a second
   * factor must not be forgotten, nor guesses be counted apart.
   */
  await t.test('asks the same of a person, whatever login the directory takes', async (t) => {
    const first = await world.users.authenticate('acme', ADA, PASSWORD)
    if (first.kind !== 'ok') return t.fail('no sign-in')
    const number = await database.run(`SELECT id FROM people WHERE login = '${ADA}'`, 'app')
    const username = String((number.rows as { id: string }[])[0]?.id)
    await enrolApp(world, acme, first.user.userId)
    const person = await begin(world, acme)
    const asked = await person.send({ username, password: PASSWORD })
    t.ok(isAskingForCode(asked.html))

    await setPolicy(world, 'lockout', { user_failures: 4 })
    for (const login of [ADA, ADA_EMAIL, username, ADA])
      t.equal(
        (await (await begin(world, acme)).send({ username: login, password: 'wrong' })).response
          .status,
        422,
      )
    const paused = await begin(world, acme)
    const refused = await paused.send({ username, password: PASSWORD })
    t.equal(refused.response.status, 429, 'they are one account')
  })

  /**
   * The attack: somebody who has never signed in is guessed at by as many names as the directory
   * takes. It answers with the same row for all of them, and that is who is counted.
   */
  await t.test('counts guesses at who has never signed in as those at one account', async (t) => {
    await setPolicy(world, 'lockout', { user_failures: 4 })
    const login = 'django-argon2'
    const row = await database.run(`SELECT id FROM people WHERE login = '${login}'`, 'app')
    const id = String((row.rows as { id: string }[])[0]?.id)
    const spellings = [login, `${login}@people.test`, id, login.toUpperCase()]
    const statusOf = async (username: string, password: string) =>
      (await (await begin(world, acme)).send({ username, password })).response.status
    for (const username of spellings) t.equal(await statusOf(username, 'wrong'), 422)
    for (const username of spellings) {
      t.equal(await statusOf(username, 'wrong'), 429)
      t.equal(await statusOf(username, PASSWORD), 429, 'nor does the right one come through')
    }
  })

  await t.test('does not say by any name that a guess at an unusable row was right', async (t) => {
    await database.run(`UPDATE people SET email = 'none' WHERE login = 'bcrypt-2b'`, 'app')
    const row = await database.run(`SELECT id FROM people WHERE login = 'bcrypt-2b'`, 'app')
    const id = String((row.rows as { id: string }[])[0]?.id)
    const statusOf = async (username: string, password: string) =>
      (await (await begin(world, acme)).send({ username, password })).response.status
    t.equal(await statusOf(id, PASSWORD), 403)
    for (const username of ['bcrypt-2b', id, 'BCRYPT-2B', id]) await statusOf(username, 'wrong')
    t.equal(await statusOf('bcrypt-2b', PASSWORD), 429)
    t.equal(await statusOf(id, PASSWORD), 429)
  })
})
