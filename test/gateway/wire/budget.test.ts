import t from 'tap'
import { Spending } from '../../../gateway/wire/budget.ts'

t.test(
  'a budget is its burst, earns with time, and never saves up more than its burst',
  async (t) => {
    const spending = new Spending({ burst: 3, perSecond: 2 }, 1000)
    const spent = (nowMs: number) => {
      let count = 0
      while (spending.spend(nowMs)) count++
      return count
    }
    t.equal(spent(1000), 3)
    t.equal(spent(1499), 0, 'half a second earns one')
    t.equal(spent(1500), 1)
    t.equal(spent(60_000), 3, 'a minute earns no more than the burst')
    t.equal(spent(59_000), 0, 'a clock that is set back takes nothing away')
    t.equal(spent(59_500), 1)
    t.ok(spending.isSpent(59_999))
    t.notOk(spending.isSpent(60_000), 'asking takes nothing')
    t.notOk(spending.isFull(60_999), 'a second and a half to earn three')
    t.ok(spending.isFull(61_000))
  },
)

t.test('a clock that is set back keeps nobody waiting until it is there again', async (t) => {
  const spending = new Spending({ burst: 1, perSecond: 1 }, 3_600_000)
  t.equal(spending.spend(3_600_000), true)
  t.equal(spending.isSpent(0), true)
  t.equal(spending.isSpent(1000), false)
})
