import t from 'tap'
import { createAddresses } from '../../../control-plane/user-directory/addresses.ts'
import { DirectoryFault } from '../../../control-plane/user-directory/faults.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createTestAuthority } from '../../support/test-certificates.ts'
import { startDirectoryApi } from './directory-world.ts'

const kindOf = (error: unknown) => (error instanceof DirectoryFault ? error.kind : String(error))

/** The attack: a directory that is the cloud's metadata service, or this machine's own database. */
t.test('a database is not looked for on this machine or on the link', async (t) => {
  const { find } = createAddresses()
  const refused = [
    '127.0.0.1',
    '127.255.0.9',
    '0.0.0.0',
    '169.254.169.254',
    '100.100.100.200',
    '168.63.129.16',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    'fe80::1',
    'ff02::1',
    'fd00:ec2::254',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '2002:7f00:1::1',
    'localhost', // by the hosts file
    '::127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:0:127.0.0.1',
    '64:ff9b:1::7f00:1',
    '2001:0:7f00:1::',
    'fec0::1',
    'fe80::1%eth0',
    '192.0.0.192',
    '192.0.2.1',
    '198.18.0.1',
    '100::1',
    '5f00::1',
  ]
  for (const host of refused) t.equal(await find(host).catch(kindOf), 'address_refused', host)
  const private_ = [
    '10.1.2.3',
    '172.16.0.9',
    '192.168.1.5',
    '100.64.0.1',
    'fd12::1',
    '8.8.8.8',
    '2606::1',
  ]
  for (const host of private_) t.same(await find(host), [host], `${host} is what this is for`)
})

t.test('a name is refused if any of its addresses is', async (t) => {
  const answers: Record<string, string[]> = {
    'db.test': ['10.0.0.7', '10.0.0.8'],
    'rebinding.test': ['10.0.0.7', '127.0.0.1'],
    'nothing.test': [],
    'many.test': Array.from(
      { length: LIMITS.addressesTriedMax + 1 },
      (_, at) => `10.0.0.${at + 1}`,
    ),
  }
  const { find } = createAddresses([], async (name) => answers[name] ?? [])
  t.same(await find('db.test'), ['10.0.0.7', '10.0.0.8'])
  t.equal((await find('many.test')).length, LIMITS.addressesTriedMax, 'no more are ever tried')
  t.equal(await find('rebinding.test').catch(kindOf), 'address_refused')
  t.equal(await find('nothing.test').catch(kindOf), 'name_unknown')
})

t.test('unless the settings of the service make an exception of it', async (t) => {
  const { find } = createAddresses(['127.0.0.1', '::1/128', '169.254.10.0/24'])
  t.same(await find('127.0.0.1'), ['127.0.0.1'])
  t.same(await find('::1'), ['::1'])
  t.same(await find('169.254.10.9'), ['169.254.10.9'])
  for (const host of ['127.0.0.2', '169.254.169.254', 'fe80::1'])
    t.equal(await find(host).catch(kindOf), 'address_refused', host)
})

t.test('the API says which, and keeps nothing', async (t) => {
  const api = await startDirectoryApi(t, { directoryAddresses: [] })
  await api.tenant('acme')
  const { caPem } = createTestAuthority(t)
  for (const kind of ['postgres', 'mysql'])
    for (const host of ['127.0.0.1', '169.254.169.254', 'localhost']) {
      const isOff = kind === 'mysql' && host !== 'localhost'
      const answer = await api.put('acme', {
        kind,
        host,
        port: 80,
        database: 'app',
        username: 'reader',
        password: 'secret',
        tls: isOff ? 'off' : 'verify',
        ca_pem: caPem,
        query: 'SELECT * FROM people WHERE email = $1 OR ? = 1',
        columns: { id: 'a', username: 'b', email: 'c', name: 'd', password_hash: 'e' },
      })
      t.match(answer, {
        status: 409,
        body: { error: 'directory_refused', field: 'host', detail: /link-local or a metadata/ },
      })
    }
  t.equal((await api.operator('GET', api.path('acme'))).status, 404)
})
