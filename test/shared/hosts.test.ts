/** One text, one host: everything that reads one is asked for the same spellings. */
import * as v from 'valibot'
import t from 'tap'
import { readFacts } from '../../control-plane/downloads/sdk-node/enforce/request-facts.ts'
import { UserDirectoryBody } from '../../control-plane/requests/directory-fields.ts'
import { NewTenantBody } from '../../control-plane/requests/tenant-fields.ts'
import { parseRequestHead } from '../../gateway/http1/request-head.ts'
import { createHeadReader } from '../../gateway/http2/request-head.ts'
import { ParsedHead } from '../../gateway/wire/parsed-head.ts'
import { hostOfAuthority, hostOfSni, isLoopbackHost, isThisMachine } from '../../shared/hosts.ts'
import { LIMITS } from '../../shared/limits.ts'

const hostOf = (head: unknown) => (head instanceof ParsedHead ? head.host : undefined)

/** Who reads the host of a request. */
const REQUESTS: Readonly<Record<string, (authority: string) => string | undefined>> = {
  grammar: hostOfAuthority,
  'HTTP/1.1': (authority) => {
    const bytes = Buffer.from(`GET / HTTP/1.1\r\nHost: ${authority}\r\n\r\n`, 'latin1')
    return hostOf(parseRequestHead(bytes, 0, bytes.length, null))
  },
  'HTTP/1.1, in the target': (authority) => {
    const text = `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`
    const bytes = Buffer.from(text, 'latin1')
    return hostOf(parseRequestHead(bytes, 0, bytes.length, null))
  },
  'HTTP/2': (authority) => {
    const pseudo = [':method', 'GET', ':path', '/', ':scheme', 'https', ':authority', authority]
    return hostOf(createHeadReader()(pseudo, true))
  },
  middleware: (authority) => {
    const facts = readFacts({
      method: 'GET',
      target: '/',
      rawHeaders: ['Host', authority],
    } as never)
    return typeof facts === 'string' ? undefined : facts.host
  },
}

const SPELLINGS: Readonly<Record<string, string | undefined>> = {
  'app.test': 'app.test',
  'App.TEST:8443': 'app.test',
  'app.test:65535': 'app.test',
  'app.test:65536': undefined,
  'app.test:0': undefined,
  'app.test:080': undefined,
  'app.test:': undefined,
  'app.test.': undefined,
  '.app.test': undefined,
  'app..test': undefined,
  'a_b.test': 'a_b.test',
  '-a.test': '-a.test',
  '127.0.0.1': '127.0.0.1',
  '[::1]': '[::1]',
  '[::FFFF:7f00:1]:80': '[::ffff:7f00:1]',
  '[::1': undefined,
  '[::1%25lo]': undefined,
  '[:::]': undefined,
  'user@app.test': undefined,
  'app.test/': undefined,
  'app.test,app.test': undefined,
  'app.test app.test': undefined,
  'bücher.test': undefined,
  ['a'.repeat(LIMITS.authorityBytesMax)]: 'a'.repeat(LIMITS.authorityBytesMax),
  ['a'.repeat(LIMITS.authorityBytesMax + 1)]: undefined,
}

for (const [reader, read] of Object.entries(REQUESTS))
  t.test(`hosts of requests: ${reader}`, async (t) => {
    for (const [authority, host] of Object.entries(SPELLINGS))
      t.equal(read(authority), host, authority.slice(0, 40))
  })

const isTaken = (schema: v.GenericSchema, body: object) => v.safeParse(schema, body).success
const NAMES = {
  sni: (name: string) => hostOfSni(name) !== '',
  tenant: (name: string) =>
    isTaken(NewTenantBody, { tenant_id: 'app', hostnames: [name], origin: 'http://10.0.0.1' }),
  server: (name: string) => isTaken(UserDirectoryBody, { ...DIRECTORY, host: name }),
}
const DIRECTORY = {
  kind: 'postgres',
  database: 'people',
  username: 'reader',
  query: 'SELECT * FROM people WHERE login = $1',
  columns: { id: 'id', username: 'login', email: 'mail', name: 'name', password_hash: 'hash' },
}

/** Who takes a name that is written down: SNI, the hostnames of a tenant, a server to connect to. */
const WRITTEN: Readonly<Record<string, readonly (keyof typeof NAMES)[]>> = {
  'app.test': ['sni', 'tenant', 'server'],
  'App.Test': ['sni', 'tenant', 'server'],
  app: ['sni', 'tenant', 'server'],
  'xn--bcher-kva.test': ['sni', 'tenant', 'server'],
  [`${'a'.repeat(63)}.test`]: ['sni', 'tenant', 'server'],
  [`${'a'.repeat(64)}.test`]: [],
  [`${'a.'.repeat(126)}a`]: ['sni', 'tenant', 'server'],
  [`${'a.'.repeat(126)}aa`]: [],
  'db_1.test': ['server'],
  '10.0.0.1': ['server'],
  '::1': ['server'],
  'app.1': [],
  'app.0x1': [],
  'app.0x': [],
  '1.app': ['sni', 'tenant', 'server'],
  'app.test.': [],
  'app..test': [],
  '-a.test': [],
  'a-.test': [],
  'app.test:80': [],
  'bücher.test': [],
  '': [],
}

t.test('names that are written down', async (t) => {
  for (const [name, takers] of Object.entries(WRITTEN)) {
    const kinds = Object.keys(NAMES) as (keyof typeof NAMES)[]
    const taken = kinds.filter((kind) => NAMES[kind](name))
    t.strictSame(taken, takers, name.slice(0, 40))
  }
})

t.test('what is this machine', async (t) => {
  const hosts = ['localhost', '127.0.0.1', '127.1.2.3', '[::1]', 'app.localhost']
  const others = [
    'app.test',
    'localhost.test',
    '128.0.0.1',
    '127.0.0.1.test',
    '[::2]',
    'xlocalhost',
  ]
  t.strictSame(hosts.filter(isThisMachine), hosts)
  t.strictSame(hosts.filter(isLoopbackHost), hosts.slice(0, -1), 'a name server is asked for it')
  t.strictSame(others.filter(isThisMachine), [])
})
