/** What has to be tidied up from time to time. Nothing breaks when it runs late, or twice. */
import type { Logger } from 'pino'
import { SECOND_MS } from '../shared/clock.ts'
import { createRounds } from './concurrency/coalescing-runner.ts'
import type { Services } from './services.ts'

export interface Jobs {
  /** One round now; shared by whoever asks while it runs. */
  run(): Promise<void>
  close(): Promise<void>
}

const EVERY_MS = 60 * SECOND_MS
/** About as often as gateways report what they have counted. */
const ALERTS_EVERY_MS = 10 * SECOND_MS
/** So many rows per change, so that no change keeps others waiting for long. */
const BATCH = 500

type Prunable = { prune(limit: number): Promise<number> }

export function startJobs(
  services: Pick<
    Services,
    | 'sessions'
    | 'revocations'
    | 'realmRecords'
    | 'attempts'
    | 'addressBlocks'
    | 'devices'
    | 'tickets'
    | 'trialPeople'
    | 'mails'
    | 'logoutNotices'
    | 'instances'
    | 'enforcement'
    | 'tenants'
    | 'figures'
    | 'alerts'
    | 'digests'
    | 'deliveries'
    | 'dispatcher'
    | 'auditTrail'
    | 'budgets'
    | 'consoleAccess'
  >,
  log: Logger,
  everyMs = EVERY_MS,
): Jobs {
  const { sessions, revocations, realmRecords, attempts, addressBlocks, devices } = services
  const { tickets, trialPeople, mails, logoutNotices, instances, enforcement, tenants } = services
  const { figures, alerts, digests, budgets } = services
  const { deliveries, dispatcher, auditTrail, consoleAccess } = services
  const prunables: Record<string, Prunable> = {
    realmRecords,
    sessions,
    revocations,
    attempts,
    addressBlocks,
    devices,
    tickets,
    trialPeople,
    instances: {
      async prune(limit) {
        await instances.write()
        return instances.prune(limit)
      },
    },
    enforcement,
    deliveries,
    events: { prune: (limit) => deliveries.pruneEvents(limit) },
    auditTrail,
    consoleAccess,
    figures,
    digests,
    analyses: budgets,
    licences: { prune: (limit) => tenants.advanceLicences(limit) },
    secretOverlaps: { prune: (limit) => tenants.endSecretOverlaps(limit) },
  }
  const watching = createRounds(alerts.evaluate, (error) =>
    log.error({ error }, 'looking at alerts failed, trying again later'),
  )
  const weekly = createRounds(digests.send, (error) =>
    log.error({ error }, 'digests wait for the next round'),
  )
  let isClosed = false
  let running: Promise<void> | undefined

  async function round() {
    // neither rejects; nobody waits for other people's servers
    void mails.deliver()
    void logoutNotices.send()
    void dispatcher.run()
    for (const [name, prunable] of Object.entries(prunables)) {
      try {
        while (!isClosed && (await prunable.prune(BATCH)) === BATCH);
      } catch (error) {
        log.error({ error, job: name }, 'tidying up failed, trying again later')
      }
    }
    await weekly.run()
    await watching.run()
  }

  const run = () => (running ??= round().finally(() => (running = undefined)))
  const timer = setInterval(() => void run(), everyMs)
  timer.unref()
  const alertTimer = setInterval(() => void watching.run(), ALERTS_EVERY_MS)
  alertTimer.unref()

  return {
    run,
    async close() {
      isClosed = true
      clearInterval(timer)
      clearInterval(alertTimer)
      await Promise.all([watching.close(), weekly.close()])
      await running
    },
  }
}
