/** The service: is it there, is it the same time there, and does it take the key. */
import type { KnownKey } from '../../access.ts'
import { visibleText } from '../../../command-line/words.ts'
import type { Task } from '../command.ts'
import { failed, ok, skip, warn, type Finding } from './finding.ts'

/** Tokens are judged by the second; a header tells no more than whole ones. */
const CLOCK_OFF_MS_MAX = 30_000

export async function examineService(task: Task): Promise<Finding[]> {
  const reached = await reach(task)
  return [...reached.findings, ...(await examineKey(task, reached.isThere))]
}

async function reach(task: Task) {
  const before = task.world.nowMs()
  try {
    const { dateMs } = await task.access.apiWith(null).contract()
    const after = task.world.nowMs()
    const said = `Responds in ${after - before} ms.`
    return { isThere: true, findings: [ok('service', said), clock(dateMs, before, after)] }
  } catch (error) {
    return { isThere: false, findings: [failed('service', error)] }
  }
}

function clock(dateMs: number, before: number, after: number): Finding {
  if (Number.isNaN(dateMs)) return skip('clock', 'The service does not report its time.')
  const offMs = before - 1000 > dateMs ? before - 1000 - dateMs : Math.max(0, dateMs - after)
  const seconds = Math.round(offMs / 1000)
  if (offMs <= CLOCK_OFF_MS_MAX) return ok('clock', 'Both clocks agree.')
  return warn(
    'clock',
    `The clock of this machine is ${seconds} s ${dateMs > after ? 'behind' : 'ahead of'} that of the service.`,
    'Synchronize this clock over the network: timedatectl set-ntp true',
  )
}

async function examineKey(task: Task, isThere: boolean): Promise<Finding[]> {
  try {
    const key = await task.access.knownKey()
    if (key === null)
      return [warn('key', 'No analyzer key is saved here.', 'Run: service-analyzer login')]
    const from = key.from === 'profile' ? visibleText(task.profile.path) : key.from
    if (!isThere)
      return [
        skip('key', `A key is set (${from}), but the service could not be reached to check it.`),
      ]
    return [await tried(task, key, from)]
  } catch (error) {
    return [failed('key', error)]
  }
}

async function tried(task: Task, key: KnownKey, from: string): Promise<Finding> {
  const { tenant_id, mode, protection, status } = await task.access.apiWith(key.text).facts()
  const said = `Works for tenant ${tenant_id} (${from}): ${status}, mode ${mode}, protection ${protection}.`
  return status === 'published'
    ? ok('key', said)
    : warn('key', said, 'Ask the operator of the service to publish or activate the tenant.')
}
