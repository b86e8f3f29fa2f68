import t from 'tap'
import { compareReaders } from './strict-reading.ts'

t.test('what the gateway takes for a request, strict llhttp takes for the same', async (t) => {
  const report = await compareReaders({ seed: 20_261_127, cases: 20_000 })
  t.strictSame(report.disagreements, [])
  t.ok(report.accepted > 3000 && report.refused > 3000, 'both ways were taken')
})
