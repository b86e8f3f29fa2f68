/** The listener: checks in, and answers sign-ins on this machine. It has no rights and needs none. */
import { randomBytes } from 'node:crypto'
import { LIMITS } from '../../../../shared/limits.ts'
import { baseUrlOf } from '../../command-line/base-url.ts'
import { EXIT, Problem } from '../../command-line/exit.ts'
import { proxiesOf } from '../../resident/given-proxy.ts'
import { createLog } from '../../resident/log.ts'
import { takeRunningLock } from '../../resident/running-lock.ts'
import { portIn } from '../arguments.ts'
import { openKey } from '../key/device-key.ts'
import { factsFile } from '../places.ts'
import { createProof } from '../proof/proof.ts'
import { createChain } from '../running/chain.ts'
import { createCheckIns } from '../running/check-ins.ts'
import { readFacts } from '../running/facts-file.ts'
import { toldOf } from '../running/posture.ts'
import { createAgentService } from '../service/agent-service.ts'
import { adoptIdentity } from '../state/running-state.ts'
import type { Command } from './command.ts'

/** Between two tries for a port that is taken. */
const PORT_AGAIN_MS = 15_000

export const run: Command = {
  name: 'run',
  summary: 'Checks in with the service and answers sign-ins, until it is stopped.',
  about: 'The log goes to standard error: text at a terminal, JSON elsewhere.',
  options: ['facts', 'port'],
  actions: [],
  async run({ given, world, state, proxies: others }) {
    const { environment, nowMs, upS, random, platform, stderr, tpm } = world
    const port = portIn(given.values.get('port'))
    const proxies = await proxiesOf(environment, others)
    await adoptIdentity(state, environment)
    const device = await state.require()
    const log = createLog({ program: 'device-agent', output: stderr, nowMs })
    const lock = await takeRunningLock('service-device-agent', state.path, platform)
    if (lock === null)
      throw new Problem('already_running', `An agent already runs with ${state.path}.`)
    if ('unlocked' in lock)
      log.warn({ error: lock.unlocked }, 'a second start with this folder would go unnoticed')

    const facts = given.values.get('facts') ?? factsFile(world)
    const told = async () => toldOf(await readFacts(facts, world), upS(), platform)
    const chain = createChain({
      device,
      key: openKey(device.key, tpm),
      service: createAgentService({ baseUrl: baseUrlOf(environment, device.base_url), proxies }),
      write: state.write,
      bootId: randomBytes(32).toString('base64url'),
      told,
      nowMs,
    })
    const checkIns = createCheckIns({
      chain,
      hashNow: async () => (await told()).hash,
      log,
      random,
      collectMs: LIMITS.deviceCollectSeconds * 1000,
    })
    const proof = createProof({
      port,
      chain,
      log,
      onListening: (listening, problem) =>
        state.writeListening({ version: 1, port: listening, problem }).catch(() => undefined),
      againMs: PORT_AGAIN_MS,
    })
    world.onStop(() => {
      checkIns.stop()
      proof.stop()
    })
    const { tenant_id, device_id } = device
    log.info({ tenant_id, device_id, key_storage: device.key.storage }, 'the agent starts')
    try {
      await Promise.all([proof.run(), checkIns.run()])
    } finally {
      if ('release' in lock) await lock.release()
    }
    log.info({}, 'stopped')
    return EXIT.done
  },
}
