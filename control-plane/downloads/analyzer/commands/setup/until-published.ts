/** A draft has no keys and no gateway serves it: somebody publishes it in the console first. */
import { setTimeout as wait } from 'node:timers/promises'
import { LIMITS } from '../../../../../shared/limits.ts'
import type { Api, Facts } from '../../api.ts'
import { Problem } from '../../../command-line/exit.ts'
import type { Task } from '../command.ts'

export async function untilPublished(
  task: Pick<Task, 'access' | 'terminal' | 'world'>,
  facts: Facts,
  api: Pick<Api, 'facts'>,
): Promise<Facts> {
  if (facts.status !== 'draft') return facts
  const { terminal, world, access } = task
  const page = `${access.baseUrl().text}/console/tenants/${facts.tenant_id}`
  const draft = `Tenant ${facts.tenant_id} is still a draft.`
  const stopped = () =>
    new Problem('not_published', draft, `Publish it at ${page}, then run: service-analyzer setup`)
  if (!terminal.isInteractive) throw stopped()
  terminal.remark(`${draft} Publish it in the console; everyone still gets in until you go live:`)
  terminal.remark(`  ${page}`)
  const endsAtMs = world.nowMs() + LIMITS.setupWaitMsMax
  return terminal.during('Waiting for you to publish it', async () => {
    while (world.nowMs() < endsAtMs) {
      await wait(LIMITS.setupLookMs)
      const now = await api.facts()
      if (now.status !== 'draft') return now
    }
    throw stopped()
  })
}
