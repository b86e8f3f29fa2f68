import t from 'tap'
import { createDueRotation } from '../../../control-plane/concurrency/due-rotation.ts'
import { asStranger, isStrangers } from '../../../control-plane/store/precedence.ts'

interface Item {
  readonly tenantId: string
  readonly name: string
}

/** Of a table that is an array; each piece of work takes until it is let go. */
function start(items: Item[], underWayMaxOf: (tenantId: string) => number = () => 2) {
  const begun: string[] = []
  const letGo = new Map<string, () => void>()
  const errors: unknown[] = []
  const ofStrangers: boolean[] = []
  const rotation = createDueRotation<Item>({
    underWayMax: 3,
    underWayMaxOf,
    tenantsWithDue: async () => [...new Set(items.map(({ tenantId }) => tenantId))].sort(),
    nextOf: async (tenantId) => items.find((item) => item.tenantId === tenantId),
    claim: async (item) => {
      ofStrangers.push(isStrangers())
      items.splice(items.indexOf(item), 1)
      if (item.name === 'dead') return undefined
      return () => {
        begun.push(item.name)
        if (item.name === 'broken') return Promise.reject(new Error('broken'))
        return new Promise<void>((resolve) => letGo.set(item.name, resolve))
      }
    },
    onError: (error) => void errors.push(error),
  })
  return { rotation, begun, letGo, errors, ofStrangers }
}

const piece = (name: string): Item => ({ tenantId: name.slice(0, 1), name })
const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

void t.test('tenants have turns, and one has room for no more than its own', async (t) => {
  const items = ['a1', 'a2', 'a3', 'b1', 'b2'].map(piece)
  const { rotation, begun, letGo } = start(items)
  const delivered = rotation.deliver()
  await turns()
  t.same(begun, ['a1', 'b1', 'a2'])
  letGo.get('b1')?.()
  await turns()
  t.same(begun.slice(3), ['b2'], 'whenever one ends another begins, and a has its two')
  for (const name of ['a1', 'a2', 'b2']) letGo.get(name)?.()
  await turns()
  letGo.get('a3')?.()
  await delivered
  t.equal(items.length, 0)
})

void t.test('of whom none may begin, what is due waits, and nobody waits for it', async (t) => {
  const items = ['a1', 'b1'].map(piece)
  const { rotation, begun, letGo } = start(items, (tenantId) => (tenantId === 'a' ? 0 : 1))
  const delivered = rotation.deliver()
  await turns()
  letGo.get('b1')?.()
  await delivered
  t.same(begun, ['b1'])
  t.same(items, [piece('a1')])
})

void t.test('what fails, or is nothing any more, is in nobody’s way', async (t) => {
  const { rotation, begun, letGo, errors } = start(
    ['broken', 'dead', 'c1'].map((name) => piece(name)),
  )
  const delivered = rotation.deliver()
  await turns()
  letGo.get('c1')?.()
  await delivered
  t.same(begun, ['broken', 'c1'])
  t.equal(errors.length, 1)
})

void t.test('it goes on nobody’s behalf: who asked first may be a stranger', async (t) => {
  const { rotation, letGo, ofStrangers } = start(['a1', 'a2', 'a3'].map(piece))
  const delivered = asStranger(() => rotation.deliver())
  await turns()
  letGo.get('a1')?.()
  await turns()
  for (const name of ['a2', 'a3']) letGo.get(name)?.()
  await delivered
  t.same(ofStrangers, [false, false, false])
})

void t.test('a stop waits for what is under way, and begins nothing', async (t) => {
  const items = ['a1', 'a2', 'a3'].map(piece)
  const { rotation, begun, letGo } = start(items)
  void rotation.deliver()
  await turns()
  let isClosed = false
  const closed = rotation.close().then(() => (isClosed = true))
  await turns()
  t.notOk(isClosed)
  for (const name of ['a1', 'a2']) letGo.get(name)?.()
  await closed
  t.same(begun, ['a1', 'a2'])
})
