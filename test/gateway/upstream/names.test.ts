import t from 'tap'
import { createNames, hostsFileEntries } from '../../../gateway/upstream/names.ts'
import { searched } from '../../../shared/search-list.ts'
import type { Address, Resolve } from '../../../gateway/upstream/names.ts'
import { MINUTE_MS } from '../../../shared/clock.ts'
import { clockOf } from '../../support/clocks.ts'

const four = (address: string): Address => ({ address, family: 4 })

function world(resolve: Resolve) {
  let nowMs = 0
  const names = createNames({ clock: clockOf(() => nowMs), resolve })
  const find = (name: string, family = 0) =>
    new Promise<string>((done) =>
      names.lookup(name, { all: false, family }, (error, address) =>
        done(error === null ? (address as string) : (error.code ?? '')),
      ),
    )
  return { find, pass: (ms: number) => (nowMs += ms), close: () => names.close() }
}

t.test('one question answers all who ask meanwhile, and for a while after', async (t) => {
  let asked = 0
  const { find, pass, close } = world(async () => [four(`10.0.0.${++asked}`)])
  t.strictSame(await Promise.all([find('a'), find('a'), find('a')]), [
    '10.0.0.1',
    '10.0.0.1',
    '10.0.0.1',
  ])
  t.equal(await find('a'), '10.0.0.1')
  t.equal(asked, 1)
  pass(MINUTE_MS)
  t.equal(await find('a'), '10.0.0.1', 'the old answer serves while the new one is fetched')
  t.equal(asked, 2)
  t.equal(await find('a'), '10.0.0.2')
  close()
})

t.test('an answer outlives the name server that gave it', async (t) => {
  let isDown = false
  const { find, pass, close } = world(async () => {
    if (isDown) throw new Error('down')
    return [four('10.0.0.1')]
  })
  t.equal(await find('a'), '10.0.0.1')
  isDown = true
  pass(MINUTE_MS)
  t.equal(await find('a'), '10.0.0.1')
  t.equal(await find('a'), '10.0.0.1')
  t.equal(await find('b'), 'ENOTFOUND')
  isDown = false
  t.equal(await find('b'), '10.0.0.1', 'a failure is not kept')
  close()
})

t.test('the family that is asked for is the family that is given', async (t) => {
  const { find, close } = world(async () => [four('10.0.0.1'), { address: '::1', family: 6 }])
  t.equal(await find('a', 6), '::1')
  t.equal(await find('a', 4), '10.0.0.1')
  close()
})

t.test('the hosts file is read as libc does', (t) => {
  const text =
    '127.0.0.1 localhost\n::1\tLocalHost ip6 # app\n# 10.0.0.1 app\n10.0.0.2  app app.test\nx app\n'
  t.strictSame(hostsFileEntries(text, 'app'), [four('10.0.0.2')])
  t.strictSame(hostsFileEntries(text, 'localhost'), [
    four('127.0.0.1'),
    { address: '::1', family: 6 },
  ])
  t.strictSame(hostsFileEntries(text, 'ap'), [])
  t.end()
})

t.test('cluster names are completed from the search list', (t) => {
  const conf =
    'nameserver 10.0.0.1\nsearch prod.svc.cluster.local svc.cluster.local\noptions ndots:5\n'
  t.strictSame(searched('app', conf), ['app.prod.svc.cluster.local', 'app.svc.cluster.local'])
  t.strictSame(searched('app.', conf), [])
  t.strictSame(searched('app', ''), [])
  t.end()
})
