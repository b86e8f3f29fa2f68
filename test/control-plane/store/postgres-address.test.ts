import { join } from 'node:path'
import t from 'tap'
import { openPostgres } from '../../../control-plane/store/engines/postgres.ts'
import { adviceOn, postgresAddress } from '../../../control-plane/store/engines/postgres-address.ts'
import { ADMIN, startPostgres } from '../../support/postgres.ts'
import { createTestAuthority } from '../../support/test-certificates.ts'

t.test('an address says hosts, database, person and TLS', async (t) => {
  const { tlsFor, ...address } = postgresAddress(
    'postgres://a%40b:p%3Aw@one.example,two.example:6432,[::1]:1/our%20own',
  )
  t.strictSame(address, {
    hosts: [
      { host: 'one.example', port: 5432 },
      { host: 'two.example', port: 6432 },
      { host: '::1', port: 1 },
    ],
    database: 'our own',
    user: 'a@b',
    password: 'p:w',
  })
  t.strictSame(tlsFor('one.example'), {}, 'encrypted and checked where it leaves this machine')
  for (const here of ['127.0.0.1', '::1', 'localhost', '/run/postgresql'])
    t.equal(tlsFor(here), false, here)

  const short = postgresAddress('postgresql://%2Frun%2Fpostgresql/service')
  t.strictSame(short.hosts, [{ host: '/run/postgresql', port: 5432 }])
  t.match(short, { user: undefined, password: undefined })

  const tlsWith = (options: string) => postgresAddress(`postgres://h/d?${options}`).tlsFor
  t.equal(tlsWith('sslmode=disable')('one.example'), false)
  t.strictSame(tlsWith('sslmode=verify-full')('127.0.0.1'), {})
  t.strictSame(tlsWith('sslmode=verify-full&sslrootcert=system')('one.example'), {})
  const file = join(import.meta.dirname, 'postgres-address.test.ts')
  t.match(tlsWith(`sslrootcert=${encodeURIComponent(file)}`)('one.example'), { ca: /sslrootcert/ })
})

const WRONG = {
  'postgres://': /name of the database is missing/,
  'postgres://host': /name of the database is missing/,
  'postgres://me:p@ss:word@host/d': /write @ : \/ \? as %40/,
  'postgres://me:secret@host:0/d': /expected a host like .*, got "host:0"/,
  'postgres://me:secret@host:70000/d': /got "host:70000"/,
  'postgres://me:secret@one,,two/d': /got ""/,
  'postgres://me:sec%ret@host/d': /a plain % is written %25/,
  'postgres://me:secret@host/d?sslmode=prefer':
    /sslmode: expected disable, require, verify-ca or verify-full, got "prefer"/,
  'postgres://me:secret@host/d?options=x':
    /unknown option "options"; there are sslmode and sslrootcert/,
  'postgres://me:secret@host/d?sslrootcert=/nowhere': /sslrootcert: ENOENT/,
  [`postgres://${Array(9).fill('h').join(',')}/d`]: /at most 8 hosts/,
}

t.test('a wrong one is refused with what to write, and never with the password', async (t) => {
  for (const [url, message] of Object.entries(WRONG))
    t.throws(() => postgresAddress(url), { name: 'ConfigError', message }, url)
  for (const url of Object.keys(WRONG))
    try {
      postgresAddress(url)
    } catch (error) {
      t.match((error as Error).message, /^control_plane\.database: /)
      t.notMatch((error as Error).message, /secret|p@ss|sec%ret/)
    }
})

t.test('what cannot be opened comes with advice', async (t) => {
  const address = postgresAddress('postgres://me:secret@db.example/d')
  const advice = (code: string | undefined, message = '') =>
    adviceOn(Object.assign(new Error(message), { code }), address)
  for (const [code, wanted] of [
    ['ECONNREFUSED', /nobody listens at db\.example:5432/],
    ['ENOTFOUND', /no address is known/],
    ['EAI_AGAIN', /DNS/],
    ['ETIMEDOUT', /firewalls/],
    ['EHOSTUNREACH', /no way to/],
    ['28P01', /password for user "me" was not accepted/],
    ['28000', /pg_hba/],
    ['3D000', /createdb/],
    ['53300', /max_connections/],
    ['42501', /GRANT ALL ON SCHEMA public TO me/],
    ['57P03', /still starting/],
  ] as const) {
    t.match(advice(code), wanted)
    t.notMatch(advice(code), /secret/)
  }
  t.match(advice(undefined, 'The server does not support SSL connections'), /sslmode=disable/)
  t.match(advice('X', 'self-signed certificate'), /sslrootcert=FILE/)
  t.match(advice(undefined, 'client password must be a string'), /PGPASSWORD/)
  t.equal(advice('XX000', 'else'), undefined)
})

t.test('sslmode: what each demands of the certificate of a server', async (t) => {
  const authority = createTestAuthority(t)
  const server = await startPostgres(t, authority.issue('db.example.com')) // not the name it is asked by
  await server.run('CREATE DATABASE service')
  const outcome = async (options: string) => {
    const url = `postgres://${ADMIN.user}:${encodeURIComponent(ADMIN.password)}@127.0.0.1:${server.port}/service?${options}`
    const address = postgresAddress(url)
    try {
      const engine = await openPostgres(address)
      await engine.close()
      return 'opened'
    } catch (error) {
      return adviceOn(error, address) ?? (error as Error).message
    }
  }
  const own = `sslrootcert=${encodeURIComponent(join(t.testdir({ 'ca.pem': authority.caPem }), 'ca.pem'))}`
  for (const [options, wanted] of [
    ['sslmode=disable', /opened/],
    ['sslmode=require', /opened/],
    [`sslmode=require&${own}`, /opened/],
    [`sslmode=verify-ca&${own}`, /opened/],
    ['sslmode=verify-ca', /certificate .* is not trusted/],
    ['sslmode=require&sslrootcert=system', /certificate .* is not trusted/],
    [`sslmode=verify-full&${own}`, /altnames.*127\.0\.0\.1/],
    [own, /opened/],
  ] as const)
    t.match(await outcome(options), wanted, options)

  const isEncrypted = async (options: string) => {
    const url = `postgres://${ADMIN.user}:${encodeURIComponent(ADMIN.password)}@127.0.0.1:${server.port}/service?${options}`
    const engine = await openPostgres(postgresAddress(url))
    const { rows } = await server.run(
      `SELECT bool_and(ssl) AS all FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
       WHERE datname = 'service'`,
    )
    await engine.close()
    return (rows as { all: boolean }[])[0]?.all
  }
  t.equal(await isEncrypted('sslmode=require'), true)
  t.equal(await isEncrypted('sslmode=disable'), false)
})
