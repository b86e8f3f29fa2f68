import t from 'tap'
import { fuzzFrames } from './http2-fuzz.ts'

t.test('what our own HTTP/2 takes nghttp2 takes, with the same fields and bodies', async (t) => {
  const report = await fuzzFrames({ seed: 20_261_127, cases: 3000 })
  t.strictSame(report.disagreements, [])
  t.ok(report.taken > 500 && report.refused > 300, 'both ways were taken')
})
