/** What machines do is told at once, then now and then, and nothing of it is lost. */
import t from 'tap'
import { createMachineUses, type MachineUse } from '../../../shared/enforcement/machine-uses.ts'
import { LIMITS } from '../../../shared/limits.ts'

const NOW = 1_800_000_000
const { serviceUseToldSeconds: every, serviceUsesRememberedMax: most } = LIMITS
const passOf = (secretId: string) => ({ serviceId: 'svc_1', secretId })

t.test('the first at once, the rest together', async (t) => {
  const told: MachineUse[] = []
  const uses = createMachineUses((use) => void told.push(use))
  uses.note('acme', passOf('a'), '192.0.2.1', NOW)
  const first = { tenantId: 'acme', serviceId: 'svc_1', secretId: 'a', requests: 1 }
  t.same(told.splice(0), [{ ...first, atSeconds: NOW, ip: '192.0.2.1' }])
  uses.note('acme', passOf('a'), '192.0.2.1', NOW + 1)
  uses.note('acme', passOf('a'), '192.0.2.2', NOW + every - 1)
  t.same(told, [], 'not each')
  uses.note('acme', passOf('b'), '192.0.2.3', NOW + 1)
  t.match(told.splice(0), [{ secretId: 'b', requests: 1 }], 'another secret is another')
  uses.note('acme', passOf('a'), '192.0.2.4', NOW + every)
  t.same(told.splice(0), [{ ...first, atSeconds: NOW + every, ip: '192.0.2.4', requests: 3 }])
  uses.flush()
  t.same(told, [], 'nothing is owed')
  uses.note('acme', passOf('a'), '192.0.2.5', NOW + every + 1)
  uses.flush()
  t.same(told.splice(0), [{ ...first, atSeconds: NOW + every + 1, ip: '192.0.2.5' }])
  uses.flush()
  t.same(told, [])
})

t.test('of very many the oldest is told before it is forgotten', async (t) => {
  const told: MachineUse[] = []
  const uses = createMachineUses((use) => void told.push(use))
  for (let at = 0; at < most; at++) uses.note('acme', passOf(`s${at}`), '', NOW)
  uses.note('acme', passOf('s0'), '', NOW + 1)
  t.equal(told.length, most)
  uses.note('acme', passOf('one more'), '', NOW + 1)
  t.match(told.slice(most), [{ secretId: 's0', requests: 1 }, { secretId: 'one more' }])
  uses.note('acme', passOf('s0'), '', NOW + 2)
  t.equal(told.length, most + 3, 'it is new again')
})
