/** Whose change goes first where many wait for the one writer. */
import { AsyncLocalStorage } from 'node:async_hooks'
import t from 'tap'
import {
  asKnown,
  asStranger,
  createWriteQueue,
  isStrangers,
} from '../../../control-plane/store/precedence.ts'

function startQueue() {
  const order: string[] = []
  const queue = createWriteQueue({ breathe: () => Promise.resolve() })
  const enter = (name: string) =>
    queue.enter(async () => {
      await Promise.resolve()
      order.push(name)
      return name
    })
  return { queue, order, enter }
}

t.test('what a stranger asks for waits behind what others do', async (t) => {
  const { queue, order, enter } = startQueue()
  const begun = enter('begun')
  const strangers = ['one', 'two', 'three'].map((name) => asStranger(() => enter(name)))
  const revocation = enter('revocation')
  t.same(await Promise.all([begun, ...strangers, revocation]).then(() => order), [
    'begun',
    'revocation',
    'one',
    'two',
    'three',
  ])
  await queue.settled()
})

t.test('strangers have a turn after eight others', async (t) => {
  const { order, enter } = startQueue()
  const all = [enter('0'), asStranger(() => enter('stranger'))]
  for (let count = 1; count <= 12; count++) all.push(enter(String(count)))
  await Promise.all(all)
  t.equal(order.indexOf('stranger'), 8)
})

t.test('a change that fails is its asker’s alone, and the queue goes on', async (t) => {
  const { queue, enter } = startQueue()
  const failing = queue.enter(() => Promise.reject(new Error('no')))
  const after = enter('after')
  await t.rejects(failing, { message: 'no' })
  t.equal(await after, 'after')
})

t.test('a change runs in the surroundings of its asker', async (t) => {
  const { queue, enter } = startQueue()
  const asker = new AsyncLocalStorage<string>()
  const first = enter('first')
  const named = asker.run('ada', () => queue.enter(async () => asker.getStore()))
  const stranger = asStranger(() => queue.enter(async () => isStrangers()))
  const other = queue.enter(async () => isStrangers())
  t.same(await Promise.all([first, named, stranger, other]), ['first', 'ada', true, false])
})

t.test(
  'what a proven session asks for is no stranger’s, and holds no turn of theirs',
  async (t) => {
    const left: string[] = []
    await asStranger(
      async () => {
        t.ok(isStrangers())
        await asKnown(async () => {
          t.same(left, ['left'])
          await Promise.resolve()
          t.notOk(isStrangers())
        })
        t.ok(isStrangers(), 'what comes behind it is')
      },
      () => void left.push('left'),
    )
    t.notOk(isStrangers())
    t.equal(
      asKnown(() => 1),
      1,
    )
  },
)

/** Commits as they are kept: what each of them holds, and whether it fails. */
function startTogether(options: { changesMax?: number; msMax?: number } = {}) {
  const commits: string[][] = []
  const told: string[] = []
  let failure: Error | undefined
  let isOpen = true
  const queue = createWriteQueue({
    breathe: () => Promise.resolve(),
    together: {
      changesMax: options.changesMax ?? 10,
      msMax: options.msMax ?? Infinity,
      async keep(work) {
        commits.push([])
        await work(() => isOpen)
        t.same(told, [], 'nobody is told before it is kept')
        if (failure !== undefined) throw failure
      },
    },
  })
  const enter = (name: string) =>
    queue
      .enter(async () => {
        await Promise.resolve()
        commits.at(-1)!.push(name)
        if (name === 'bad') throw new Error('bad')
        if (name === 'torn') isOpen = false
        return name
      })
      .then(
        (answer) => (told.push(answer), answer),
        (error: Error) => error.message,
      )
  return { commits, enter, told, fail: (error: Error) => void (failure = error) }
}

t.test('who waits at the same time shares a commit, and is told once it is kept', async (t) => {
  const { commits, enter } = startTogether()
  const answers = await Promise.all(['a', 'bad', 'c'].map(enter))
  t.same(answers, ['a', 'bad', 'c'])
  t.same(commits, [['a', 'bad', 'c']], 'one that fails is its asker’s alone')
})

t.test('a commit that fails is everybody’s whose change was in it', async (t) => {
  const { enter, fail } = startTogether()
  fail(new Error('the disk is full'))
  t.same(await Promise.all(['a', 'bad', 'c'].map(enter)), Array(3).fill('the disk is full'))
})

t.test('nothing is added to what the database has taken back', async (t) => {
  const { commits, enter, told } = startTogether()
  const all = ['a', 'torn', 'c'].map((name) => enter(name).finally(() => (told.length = 0)))
  await Promise.all(all)
  t.same(commits, [['a', 'torn'], ['c']])
})

t.test('so many share a commit, and no more', async (t) => {
  for (const [options, expected] of [
    [{ changesMax: 2 }, [['a', 'b'], ['c']]],
    [{ msMax: 0 }, [['a'], ['b'], ['c']]],
  ] as const) {
    const { commits, enter, told } = startTogether(options)
    await Promise.all(['a', 'b', 'c'].map((name) => enter(name).finally(() => (told.length = 0))))
    t.same(commits, expected)
  }
})
