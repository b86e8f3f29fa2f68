import t from 'tap'
import { fuzzEdges } from './edge-fuzz.ts'

t.test('edge and middleware do the same with whatever is asked', async (t) => {
  const report = await fuzzEdges(t, { seed: 20_261_128, cases: 200 })
  t.strictSame(report.disagreements, [])
  const { outcomes } = report
  for (const outcome of ['forward', 'sealed_404', 'sign_in_401', 'sign_in_redirect', 'refused_401'])
    t.ok(outcomes[outcome]! > 0, `${outcome}: ${outcomes[outcome]}`)
})
