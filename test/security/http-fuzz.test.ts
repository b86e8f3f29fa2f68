import t from 'tap'
import { fuzzRequests, fuzzResponses } from './http-fuzz.ts'

t.test("Node's parser at the origin reads what was decided on, and nothing else", async (t) => {
  const report = await fuzzRequests({ seed: 20_261_121, cases: 4000 })
  t.strictSame(report.disagreements, [])
  t.ok(report.forwarded > 200 && report.refused > 200, 'both ways were taken')
})

t.test("Node's parser at the client reads one valid answer, or sees it cut", async (t) => {
  const report = await fuzzResponses({ seed: 20_261_121, cases: 3000 })
  t.strictSame(report.disagreements, [])
  t.ok(report.forwarded > 200 && report.refused > 200, 'both ways were taken')
})
