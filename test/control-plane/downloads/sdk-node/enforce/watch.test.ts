/** What is open and looked at again: each for itself. */
import t from 'tap'
import { createEnforcement } from '../../../../../control-plane/downloads/sdk-node/enforce/enforcement.ts'
import {
  createWatch,
  type Admitted,
} from '../../../../../control-plane/downloads/sdk-node/enforce/watch.ts'
import { rulesOf } from '../../../../support/access-rules.ts'
import { startFeedService, USER_AGENT } from '../../../../support/feed-service.ts'

const fail = () => {
  throw new Error('a response of some other library')
}

t.test('one that throws keeps none of the others open', (t) => {
  const errors: unknown[] = []
  const gone = new Set<Admitted>()
  const watch = createWatch({
    nowSeconds: () => 1,
    mayStay: (admitted) => !gone.has(admitted),
    onError: (error) => errors.push(error),
  })
  t.teardown(() => watch.close())
  const ended: string[] = []
  const open = (name: string) => {
    const is = {
      isOver: () => false,
      isActive: () => false,
      isOpenEnded: () => true,
      end: () => void ended.push(name),
    }
    const admitted = { identity: {}, path: '/', activeSeconds: 0, allowedBy: {} } as Admitted
    gone.add(admitted)
    watch.add(admitted, is)
    return { is, admitted }
  }
  open('unjudged').is.isOver = fail
  open('unread').is.isActive = fail
  const stuck = open('stuck')
  const end = stuck.is.end
  stuck.is.end = fail
  open('behind them')
  gone.delete(open('stays').admitted)
  watch.look()
  t.same(ended, ['unjudged', 'unread', 'behind them'], 'what cannot be judged does not go on')
  t.equal(errors.length, 3)
  stuck.is.end = end
  watch.look()
  t.same(ended.slice(3), ['stuck'], 'what could not be ended is tried again')
  t.equal(errors.length, 3)
  t.end()
})

t.test('the end of one may end another, which is not ended twice', (t) => {
  const ended: string[] = []
  const watch = createWatch({
    nowSeconds: () => 1,
    mayStay: () => false,
    onError: (error) => t.error(error),
  })
  t.teardown(() => watch.close())
  const admitted = { identity: {}, path: '/', activeSeconds: 0, allowedBy: {} } as Admitted
  const is = { isOver: () => false, isActive: () => false, isOpenEnded: () => true }
  watch.add(admitted, {
    ...is,
    end() {
      ended.push('first')
      watch.look()
    },
  })
  watch.add(admitted, { ...is, end: () => void ended.push('second') })
  watch.look()
  t.same(ended, ['first', 'second'])
  t.end()
})

t.test(
  'of many whose paths are to be judged, some in each turn, and no session waits',
  async (t) => {
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const [judged, ended]: [Set<string>, string[]] = [new Set(), []]
    const watch = createWatch({
      nowSeconds: () => 1,
      mayStay({ path }, isPathDue) {
        if (path === '/over') return false
        if (!judged.has(path) && isPathDue(path)) judged.add(path)
        return true
      },
      onError: (error) => t.error(error),
    })
    t.teardown(() => watch.close())
    const open = (path: string) =>
      watch.add({ identity: {}, path, activeSeconds: 0, allowedBy: {} } as Admitted, {
        isOver: () => false,
        isActive: () => false,
        isOpenEnded: () => true,
        end: () => void ended.push(path),
      })
    for (let at = 0; at < 100; at++) open(`/${at}${'x'.repeat(1022)}`.slice(0, 1024))
    open('/over')
    watch.look()
    t.same([judged.size, ended], [32, ['/over']])
    await turn()
    t.equal(judged.size, 64)
    await turn()
    await turn()
    t.equal(judged.size, 100)
  },
)

t.test('each of them meets the new rules', async (t) => {
  const feed = await startFeedService(t, { sealed: [] })
  const guard = createEnforcement(feed.options)
  t.teardown(() => guard.close?.())
  await guard.ready?.()
  const outcome = await guard.judge({
    method: 'GET',
    target: `/new/${'x'.repeat(1000)}`,
    rawHeaders: ['Host', 'app.localhost', 'Cookie', feed.session(), 'User-Agent', USER_AGENT],
    peerAddress: '127.0.0.1',
    isSecure: false,
  })
  if (outcome.kind !== 'forward') throw new Error(outcome.body)
  const ended = new Set<number>()
  const { promise: areEnded, resolve } = Promise.withResolvers<void>()
  for (let at = 0; at < 100; at++)
    guard.watch?.(outcome, {
      isOver: () => false,
      isActive: () => false,
      isOpenEnded: () => true,
      end: () => void (ended.add(at).size === 100 && resolve()),
    })
  feed.put({ sealed: ['/new'] })
  await areEnded
})

for (const [name, before, after, target] of [
  [
    'protection that begins',
    { protection: 'pass-through', sealed: [] },
    { protection: 'on' },
    '/stream',
  ],
  ['a path that is no longer excluded', { excluded: ['/stream'] }, { excluded: [] }, '/stream'],
  ['a path that is sealed', { excluded: ['/stream'] }, { sealed: ['/stream'] }, '/stream'],
] as const)
  t.test(`what was open for nobody ends with ${name}`, async (t) => {
    const feed = await startFeedService(t, before)
    const guard = createEnforcement(feed.options)
    t.teardown(() => guard.close?.())
    await guard.ready?.()
    const rawHeaders = ['Host', 'app.localhost', 'User-Agent', USER_AGENT]
    const asked = { method: 'GET', rawHeaders, peerAddress: '127.0.0.1', isSecure: false }
    const open = async (path: string) => {
      const outcome = await guard.judge({ ...asked, target: path })
      if (outcome.kind !== 'forward') throw new Error(outcome.body)
      t.equal(outcome.identity, undefined)
      return new Promise<void>((end) =>
        guard.watch?.(outcome, {
          isOver: () => false,
          isActive: () => false,
          isOpenEnded: () => true,
          end,
        }),
      )
    }
    const ends = open(target)
    let isHealthOpen = true
    if ('excluded' in before === false) void open('/health').then(() => (isHealthOpen = false))
    feed.put(after)
    await ends
    t.ok(isHealthOpen, 'what is still excluded stays')
  })

t.test('what was opened with a proof ends when its rule asks for a younger one', async (t) => {
  let aheadMs = 0
  const nowMs = () => Date.now() + aheadMs
  const access = rulesOf([{ path: '/vault', allow: [{ max_age: 300 }] }])
  const feed = await startFeedService(t, { access, sealed: [] }, { nowMs })
  const guard = createEnforcement({ ...feed.options, nowMs })
  t.teardown(() => guard.close?.())
  await guard.ready?.()
  const rawHeaders = ['Host', 'app.localhost', 'Cookie', feed.session(), 'User-Agent', USER_AGENT]
  const asked = { method: 'GET', rawHeaders, peerAddress: '127.0.0.1', isSecure: false }
  const ended: string[] = []
  const open = async (target: string, isOpenEnded: boolean) => {
    const outcome = await guard.judge({ ...asked, target })
    if (outcome.kind !== 'forward') throw new Error(outcome.body)
    return new Promise<void>((resolve) => {
      guard.watch?.(outcome, {
        isOver: () => false,
        isActive: () => true,
        isOpenEnded: () => isOpenEnded,
        end: () => resolve(void ended.push(target)),
      })
    })
  }
  const stream = open('/vault/events', true)
  void open('/vault/file', false)
  void open('/elsewhere', true)
  await feed.polled()
  aheadMs = 301_000
  await stream
  t.same(ended, ['/vault/events'])
})
