// long: a series of kills under load
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { killUnderLoad } from '../../support/webhook-kills.ts'

const KILLS = 12

void t.test(
  'kill -9 under load: every committed event arrives, none is invented, none is tried too often',
  async (t) => {
    const report = await killUnderLoad(t, { kills: KILLS, ticksMax: 60, refusedOfHundred: 0 })
    t.comment(report)
    t.ok(report.events > KILLS, 'there was something to lose')
    t.equal(report.lost, 0, 'what was acknowledged is committed')
    t.strictSame(report.missing, [])
    t.strictSame(report.invented, [])
    t.strictSame(report.doubled, [])
    t.ok(report.attemptsMax <= LIMITS.webhookAttemptsMax, `${report.attemptsMax} attempts`)
  },
)
