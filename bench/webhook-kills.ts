/**
 * Whether deliveries survive `kill -9`: the real control plane is killed at random moments under
 * load, with receivers that refuse one delivery in ten. `npm run bench:webhook-kills -- [kills]`
 */
import { killUnderLoad } from '../test/support/webhook-kills.ts'

const kills = Number(process.argv[2] ?? 200)
const TICKS_MAX = 60
const EVERY = 10

const endings: (() => unknown)[] = []
const startedMs = performance.now()
const report = await killUnderLoad(
  { teardown: (work) => void endings.push(work) },
  {
    kills,
    ticksMax: TICKS_MAX,
    refusedOfHundred: 10,
    onKill: (done) => void (done % EVERY === 0 && print('kills so far', String(done))),
  },
)
for (const end of endings.reverse()) await end()

print('kills', String(kills))
print('events committed', String(report.events))
print('calls acknowledged, of those lost', `${report.acknowledged}, ${report.lost}`)
print('arrivals, doubles among them', String(report.arrivals))
print('committed, and never arrived', String(report.missing.length))
print('arrived, and never committed', String(report.invented.length))
print('made two deliveries of', String(report.doubled.length))
print('most attempts at one delivery', String(report.attemptsMax))
print('seconds', String(Math.round((performance.now() - startedMs) / 1000)))

function print(what: string, figure: string) {
  process.stdout.write(`${what.padEnd(40)}${figure}\n`)
}
