/** What is looked at from here is an edge or an application, wherever a hostname leads. */
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'
import { createEdgeLookup } from '../../../control-plane/outbound/edge-lookup.ts'

/** Of a name that leads to these; undefined where it leads nowhere. */
function lookedUp(addresses: readonly string[], all: boolean, hostname = 'app.example.com') {
  return new Promise((done) =>
    createEdgeLookup(() => Promise.resolve(addresses))(hostname, { all }, (error, found) =>
      done(error === null ? found : error.code),
    ),
  )
}

void t.test('a name that leads inside is not known, whatever else it leads to', async (t) => {
  for (const address of ['169.254.169.254', 'fe80::1', '100.100.100.200', '0.0.0.0', '::'])
    for (const all of [true, false])
      t.equal(await lookedUp([address], all), 'ENOTFOUND', `${address} of ${all}`)
  t.equal(await lookedUp(['169.254.169.254', '192.0.2.1'], false), 'ENOTFOUND', 'for documents')
  t.same(await lookedUp(['169.254.169.254', '9.9.9.9'], true), [{ address: '9.9.9.9', family: 4 }])
  t.equal(await lookedUp(['169.254.169.254', '9.9.9.9'], false), '9.9.9.9')
})

void t.test('gateways are out there, in a private network or on this machine', async (t) => {
  for (const address of ['9.9.9.9', '10.0.0.5', '127.0.0.1', '::1', 'fd00::5'])
    t.equal(await lookedUp([address], false), address)
  t.same(
    await lookedUp(['9.9.9.9'], true, 'app.localhost'),
    [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ],
    'what is this machine by its name is asked of nobody',
  )
})

void t.test('no thread of the pool waits for a name server that is silent', async (t) => {
  const { lookup } = dns
  const put = (by: unknown) => {
    Object.assign(dns, { lookup: by })
    syncBuiltinESMExports()
  }
  let asked = 0
  put((_name: string, _options: unknown, answer: (error: Error) => void) => {
    asked += 1
    answer(new Error('by getaddrinfo'))
  })
  t.teardown(() => put(lookup))
  await new Promise<void>((done) => createEdgeLookup()('app.invalid', { all: true }, () => done()))
  t.equal(asked, 0)
})
