/** Runs the connector until it is told to stop. */
import { LIMITS } from '../../../../shared/limits.ts'
import { EXIT, Problem } from '../../command-line/exit.ts'
import { startLocal } from '../local/local.ts'
import { readLocalPort } from '../local/port.ts'
import { createLog } from '../../resident/log.ts'
import { createRunning } from '../running/running.ts'
import { createService } from '../service/service.ts'
import { baseUrlOf } from '../../command-line/base-url.ts'
import { proxiesOf } from '../../resident/given-proxy.ts'
import { adoptIdentity } from '../systemd/running-state.ts'
import { takeRunningLock } from '../../resident/running-lock.ts'
import type { Command } from './command.ts'

export const run: Command = {
  name: 'run',
  summary: 'Connects to the gateways and serves requests until it is stopped.',
  about:
    'SIGTERM and SIGINT let requests that are under way finish, for 30 seconds at most; a second one ends it at once. SIGUSR2 replaces the key. The log goes to standard error: text at a terminal, JSON elsewhere.',
  options: ['local-port'],
  actions: [],
  async run({ given, world, state, proxies: others }) {
    const { environment, nowMs, upMs, random, platform, stderr } = world
    const port = readLocalPort(given.options.get('local-port'))
    await adoptIdentity(state, environment)
    const joined = await state.require()
    const proxies = await proxiesOf(environment, others)
    const log = createLog({ program: 'connector', output: stderr, nowMs })
    const lock = await takeRunningLock('service-connector', state.path, platform)
    if (lock === null)
      throw new Problem(
        'already_running',
        `A connector already runs with ${state.path}.`,
        'For a second connector, join in another folder: --state DIR',
      )
    if ('unlocked' in lock)
      log.warn({ error: lock.unlocked }, 'a second start with this folder would go unnoticed')

    const service = createService({
      baseUrl: baseUrlOf(environment, joined.base_url),
      proxies,
    })
    const running = createRunning({
      joined,
      state,
      service,
      proxies,
      log,
      nowMs,
      upMs,
      random,
      onEvent: (event) => local.onEvent(event),
    })
    const { tunnels, facts } = running
    const local = await startLocal({ port, tunnel: tunnels, facts, nowMs: upMs })
    await state
      .writeLocalPort(local.port ?? null)
      .catch(() =>
        log.warn({}, 'status has to be told the local port: nothing can be written here'),
      )
    const isOver = new Promise<void>((resolve) => {
      let isStopping = false
      world.onSignal((signal) => {
        if (signal === 'rotate') return running.rotateKey()
        if (isStopping) {
          log.warn({}, 'stopped at once')
          running.close()
          return resolve()
        }
        isStopping = true
        local.drain()
        log.info({}, 'stopping: requests under way are finished; once more ends it at once')
        void running.stop(LIMITS.connectorDrainMsMax).then(resolve)
      })
    })
    const { tenant_id, connector_id, origin } = joined
    log.info({ tenant_id, connector_id, origin }, 'the connector starts')
    if (local.problem !== '') log.warn({}, local.problem)
    else if (local.port !== undefined)
      log.info({ local_port: local.port }, 'ready, metrics and status are told on 127.0.0.1')
    try {
      await running.start()
      await isOver
    } finally {
      running.close()
      await local.close()
      if ('release' in lock) await lock.release()
    }
    log.info({}, 'stopped')
    return EXIT.done
  },
}
