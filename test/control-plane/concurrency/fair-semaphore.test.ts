import t from 'tap'
import { createFairSemaphore } from '../../../control-plane/concurrency/fair-semaphore.ts'

t.test('a tenant that waits alone is next, however many wait at another one', async (t) => {
  const semaphore = createFairSemaphore({ concurrency: 1 })
  const served: string[] = []
  const running = Promise.withResolvers<void>()
  const first = semaphore.take(() => running.promise)
  const flood = ['a1', 'a2', 'a3', 'a4'].map((name) =>
    semaphore.take(async () => void served.push(name), 'a'),
  )
  const other = semaphore.take(async () => void served.push('b1'), 'b')
  running.resolve()
  await Promise.all([first, ...flood, other])
  t.same(served, ['a1', 'b1', 'a2', 'a3', 'a4'])
})

t.test('work that fails hands its turn on', async (t) => {
  const semaphore = createFairSemaphore({ concurrency: 1 })
  const failing = semaphore.take(() => Promise.reject(new Error('no')), 'a')
  const next = semaphore.take(async () => 'served', 'a')
  await t.rejects(failing, { message: 'no' })
  t.equal(await next, 'served')
})

t.test('when all is full, the last of the longest queue gives way to who has less', async (t) => {
  const semaphore = createFairSemaphore({ concurrency: 1, waitingMax: 6, waitingPerTenantMax: 3 })
  const served: string[] = []
  const running = Promise.withResolvers<void>()
  const first = semaphore.take(() => running.promise)
  const ask = (name: string) =>
    semaphore
      .take(async () => void served.push(name), name.charAt(0))
      .catch(() => `${name} refused`)
  const asked = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'd1', 'a4', 'c2', 'e1'].map(ask)
  running.resolve()
  const refused = (await Promise.all([first, ...asked])).filter((told) => told !== undefined)
  t.same(refused, ['a2 refused', 'a3 refused', 'b3 refused', 'a4 refused', 'c2 refused'])
  t.same(served, ['a1', 'b1', 'c1', 'd1', 'e1', 'b2'])
  t.equal(await ask('a5'), undefined, 'and whoever gave way holds no place')
})

t.test('who waits for others gives the turn on before the work is done', async (t) => {
  const { take } = createFairSemaphore({ concurrency: 1 })
  const enforced = Promise.withResolvers<void>()
  const begun: string[] = []
  const first = take(async (leave) => {
    leave()
    leave() // once is enough, and so is the end of the work
    await enforced.promise
  })
  await take(async () => void begun.push('second'))
  const third = take(() => enforced.promise)
  void take(async () => void begun.push('fourth'))
  await new Promise(setImmediate)
  t.same(begun, ['second'], 'a turn is one turn')
  enforced.resolve()
  await Promise.all([first, third])
  await new Promise(setImmediate)
  t.same(begun, ['second', 'fourth'])
})

t.test('a site with many networks has one turn, and its networks take turns in it', async (t) => {
  const semaphore = createFairSemaphore({ concurrency: 1, waitingMax: 5, waitingPerTenantMax: 4 })
  const served: string[] = []
  const running = Promise.withResolvers<void>()
  const first = semaphore.take(() => running.promise)
  const ask = (site: string, network: string, name: string) =>
    semaphore.take(async () => void served.push(name), site, network).catch(() => `${name} refused`)
  const asked = [
    ask('s', 's1', 's1 a'),
    ask('s', 's1', 's1 b'),
    ask('s', 's2', 's2'),
    ask('s', 's3', 's3'),
    ask('s', 's4', 's4'), // a neighbour: its site is full, and one network of it has two
    ask('o', 'o1', 'o1'),
    ask('p', 'p1', 'p1'), // all is full, and one site has the most
    ask('s', 's5', 's5'),
  ]
  running.resolve()
  const refused = (await Promise.all([first, ...asked])).filter((told) => told !== undefined)
  t.same(refused, ['s1 b refused', 's4 refused', 's5 refused'].sort())
  t.same(served, ['s1 a', 'o1', 'p1', 's2', 's3'])
})
