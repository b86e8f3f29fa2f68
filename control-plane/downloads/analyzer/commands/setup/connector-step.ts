/** In connector mode: until the program that brings requests to the application is connected. */
import { setTimeout as wait } from 'node:timers/promises'
import { LIMITS } from '../../../../../shared/limits.ts'
import type { Api } from '../../api.ts'
import { connectorCommands, tokenPage } from '../../edits/notes.ts'
import { Problem } from '../../../command-line/exit.ts'
import type { Task } from '../command.ts'
import type { Steps } from './steps.ts'

interface Connecting {
  readonly tenantId: string
  /** Of the application, if it is known. */
  readonly port: number | null
  readonly api: Pick<Api, 'facts'>
}

export async function connectorStep(
  task: Task,
  steps: Steps,
  { tenantId, port, api }: Connecting,
): Promise<void> {
  steps.begin('connector')
  const { terminal, access, world } = task
  const first = (await api.facts()).connectors_connected
  const isTold = first !== null
  if (isTold && first > 0) return steps.done('connector', connectedText(first))

  const { text: baseUrl } = access.baseUrl()
  const commands = connectorCommands(baseUrl, port)
  const lines = [
    'No connector is connected yet. On the machine of the application, run:',
    ...commands.map((command) => `  ${command}`),
    `It asks for a join token: create one ${tokenPage(baseUrl, tenantId)}`,
  ]
  for (const line of lines) terminal.remark(line)
  if (!isTold) return steps.done('connector', 'this service does not tell which are connected')
  const endsAtMs = world.nowMs() + LIMITS.setupWaitMsMax
  const connected = await terminal.during('Waiting for a connector', async () => {
    while (world.nowMs() < endsAtMs) {
      await wait(LIMITS.setupLookMs)
      const { connectors_connected: count } = await api.facts()
      if (count !== null && count > 0) return count
    }
    throw new Problem(
      'no_connector',
      'No connector is connected yet.',
      'On its machine this finds out why: service-connector diag',
      'Then run: service-analyzer setup',
    )
  })
  steps.done('connector', connectedText(connected))
}

const connectedText = (count: number) =>
  count === 1 ? 'one connector is connected' : `${count} connectors are connected`
