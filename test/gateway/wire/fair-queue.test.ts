import t from 'tap'
import { FairQueue } from '../../../gateway/wire/fair-queue.ts'

t.test('who has had its turn in vain is the next', (t) => {
  const queue = new FairQueue<{ client: string; name: string }>()
  const [a1, b1, c1] = ['a1', 'b1', 'c1'].map((name) => ({ client: name[0]!, name }))
  queue.add(a1!)
  queue.addAgain(b1!)
  queue.addAgain(c1!)
  t.equal(queue.size, 3)
  t.equal(queue.countOf('b'), 1)
  t.equal(
    queue.countOfThose(({ client }) => client !== 'b'),
    2,
  )
  t.equal(queue.last(), a1)
  t.equal(
    queue.next(({ client }) => client !== 'b'),
    c1,
  )
  queue.delete(b1!)
  t.equal(queue.size, 1)
  queue.addAgain(b1!)
  t.same(queue.takeAll(), [b1, a1])
  t.equal(queue.size, 0)
  t.end()
})

t.test('clients take turns, and each has its own in order', (t) => {
  const queue = new FairQueue<{ client: string; name: string }>()
  const [a1, a2, a3, b1, c1] = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => {
    const item = { client: name[0]!, name }
    queue.add(item)
    return item
  })
  t.equal(queue.size, 5)
  t.equal(queue.countOf('a'), 3)
  t.equal(queue.last(), a3, 'the last of whoever has the most')
  t.equal(queue.next(), a1)
  t.equal(queue.next(), b1)
  queue.add(b1!)
  t.equal(queue.next(), c1)
  t.equal(
    queue.next(({ client }) => client !== 'a'),
    b1,
    'whose client may not have one waits',
  )
  queue.delete(a2!)
  queue.delete(a2!)
  t.equal(queue.size, 1)
  t.equal(queue.next(), a3)
  t.equal(queue.next(), undefined)
  queue.add(a1!)
  queue.add(b1!)
  t.same(queue.takeAll(), [a1, b1])
  t.equal(queue.size, 0)
  t.end()
})
