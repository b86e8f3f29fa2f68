/** Whatever size a tenant has, one change holds no more than `LIMITS.changeRowsWrittenMax` rows. */
import t from 'tap'
import { getTableName } from '../../../control-plane/store/drizzle.ts'
import { prepareWorld } from '../api/endpoint-world.ts'
import { ELSEWHERE, nameOf } from '../api/endpoint-calls.ts'
import { fill } from './filled-tenant.ts'
import { countChanges } from './largest-changes.ts'

void t.test('an endpoint', async (t) => {
  const changes = countChanges()
  const prepared = await prepareWorld(t, { fill, told: changes.told })
  const cpu = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1000 }
  console.log('prepared', cpu())
  const first = await prepared.copy(t)
  for (const declaration of first.declarations) {
    const name = nameOf(declaration)
    if (!new RegExp(process.env['ONLY'] ?? '.').test(name)) continue
    const before = cpu()
    const world = declaration.method === 'DELETE' ? await prepared.copy(t) : first
    const { status } = await changes.of(name, () => world.ask(declaration))
    const spent = cpu() - before
    if (spent > 300) console.log(name, 'ms', spent | 0)
    if (status >= 400 && !(name in ELSEWHERE)) console.log(name, status)
  }
  console.log(changes.largest())
})
