/** What is open and looked at again: each for itself. */
import t from 'tap'
import {
  createWatch,
  type Admitted,
} from '../../../../../control-plane/downloads/sdk-node/enforce/watch.ts'

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
  const is = { isOver: () => false, isActive: () => false }
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
