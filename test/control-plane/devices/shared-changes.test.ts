/** Commits that check-ins share. */
import t from 'tap'
import { createSharedChanges } from '../../../control-plane/devices/shared-changes.ts'
import type { Change, Store } from '../../../control-plane/store/store.ts'
import { until } from '../../support/fleet.ts'

function start() {
  const commits: unknown[][] = []
  const change: Store['change'] = async (work) => {
    const done: unknown[] = []
    const result = await work({ done } as unknown as Change)
    commits.push(done)
    return result
  }
  /** Those that nobody has ended so far. */
  const pauses: { readonly ms: number; readonly end: () => void }[] = []
  const pause = (ms: number) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    pauses.push({ ms, end: resolve })
    return promise
  }
  const { enter } = createSharedChanges({ change }, pause)
  const write = (name: string) =>
    enter((one) => {
      if (name === 'bad') return Promise.reject(new Error(name))
      return Promise.resolve((one as unknown as { done: unknown[] }).done.push(name))
    })
  /** Waits for the pause behind a commit, and lets it be over. */
  async function passPause() {
    await until(() => pauses.length > 0)
    const { ms, end } = pauses.shift()!
    end()
    return ms
  }
  return { commits, write, passPause }
}

void t.test('who comes while others are written, or soon after, goes together', async (t) => {
  const { commits, write, passPause } = start()
  const [a, b, c] = [write('a'), write('b'), write('c')]
  await a
  const d = write('d')
  t.ok((await passPause()) <= 100)
  await Promise.all([b, c, d])
  t.strictSame(commits, [['a'], ['b', 'c', 'd']])
  // several came at a time, so the next commit waits for more of them
  const later = [write('e'), write('f')]
  t.equal(await passPause(), 100)
  await Promise.all(later)
  t.strictSame(commits, [['a'], ['b', 'c', 'd'], ['e', 'f']])
})

void t.test('one that fails takes nobody with it', async (t) => {
  const { commits, write, passPause } = start()
  const before = write('a')
  const refused = t.rejects(write('bad'), { message: 'bad' })
  const beside = write('b')
  await passPause()
  await refused
  await Promise.all([before, beside])
  t.strictSame(
    commits.flat().filter((name) => name !== 'a'),
    ['b'],
  )
})

void t.test(
  'what the database gives up and does once more is answered as it is kept',
  async (t) => {
    const change: Store['change'] = async (work) => {
      await work({ run: 'given up' } as unknown as Change).catch(() => {})
      return work({ run: 'kept' } as unknown as Change)
    }
    const { enter } = createSharedChanges({ change })
    const write = (name: string) =>
      enter(async (one) => {
        const { run } = one as unknown as { run: string }
        if (name === 'lost' && run === 'given up') throw new Error('the connection is lost')
        return `${name} ${run}`
      })
    // the first goes alone, and these together
    const answers = await Promise.all(['a', 'b', 'lost', 'c'].map(write))
    t.strictSame(answers, ['a kept', 'b kept', 'lost kept', 'c kept'])
  },
)
