/** An edit counts as right for what it does, not for being none. */
import t from 'tap'
import type { Plan } from '../../../control-plane/downloads/analyzer/plan.ts'
import { EXPRESS } from '../../control-plane/downloads/analyzer/edits/projects.ts'
import { planVerdict, type EditVerdict } from './edit-verdict.ts'

const BEFORE = `import express from 'express'
const app = express()
app.get('/', home)
`
const SERVICE = `import { verifyClaims } from 'service-node'
const service = verifyClaims()
`
const MOUNT = 'app.use(service.express())\n'

function verdict(after: string | null, manual: Plan['manual'] = []) {
  const edits =
    after === null ? [] : [{ path: 'server.js', before: BEFORE, after, why: 'for the test' }]
  const plan: Plan = {
    framework: 'express',
    source: { kind: 'rules' },
    edits,
    manual,
    commands: [],
    notes: [],
  }
  return planVerdict({ application: EXPRESS, plan })
}

const kindOf = (one: EditVerdict) => one.kind

t.test('what is written before the first route is right, and nothing else that is written', (t) => {
  const lines = BEFORE.split('\n')
  const [made = '', route = ''] = [lines[1], lines[2]]
  const whole = `${SERVICE}${lines[0]}\n${made}\n`
  t.equal(kindOf(verdict(`${whole}${MOUNT}${route}\n`)), 'written')
  t.match(verdict(`${whole}${route}\n${MOUNT}`), { why: /line 5 comes before/ })
  t.match(verdict(`${whole}${route}\n`), { why: /line 5 comes before/ })
  t.match(verdict(`${whole}`), { why: 'nothing is mounted on it' })
  t.match(verdict(`${SERVICE}${lines[0]}\n`), { why: /no longer made/ })
  t.match(verdict(`${whole}app.use('/admin', service.express())\n${route}\n`), { kind: 'wrong' })
  t.end()
})

t.test(
  'a plan that writes nothing is right where it says why, at the place that was found',
  (t) => {
    const text = 'Mount it. Not done automatically because it has no name.'
    const step = { path: 'server.js', line: 2, text, code: null }
    t.equal(kindOf(verdict(null, [step])), 'shown')
    t.match(verdict(null, [{ ...step, line: 3 }]), { kind: 'wrong' })
    t.match(verdict(null, [{ ...step, text: 'Mount it.' }]), { kind: 'wrong' })
    t.match(verdict(null), { why: /nothing says why/ })
    t.end()
  },
)
