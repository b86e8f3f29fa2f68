/** Paths that are judged again, when their tenant has other rules: in how many turns that is done. */
import t from 'tap'
import { PathBudget } from '../../../shared/enforcement/path-budget.ts'

function spend(ms: number): void {
  for (const beganMs = performance.now(); performance.now() - beganMs < ms;);
}

t.test('a turn has so many characters, and the next as many', (t) => {
  const budget = new PathBudget()
  budget.beginTurn()
  let due = 0
  while (budget.isDue('/'.repeat(8000))) due++
  t.ok(due <= 4 && due >= 1)
  t.ok(budget.isSpent)
  budget.beginTurn()
  t.notOk(budget.isSpent)
  t.ok(budget.isDue('/a'))
  t.end()
})

// Eighty paths of four hundred characters that took four milliseconds each were one stall.
t.test('behind a path that took long there is none in its turn, and one in each', (t) => {
  const budget = new PathBudget()
  for (let turn = 0; turn < 3; turn++) {
    budget.beginTurn()
    spend(6) // on what is no path
    t.ok(budget.isDue('/a'), 'the first one of a turn goes on')
    spend(6)
    t.notOk(budget.isDue('/b'))
    t.ok(budget.isSpent)
    t.notOk(budget.isDue('/c'))
  }
  t.end()
})
