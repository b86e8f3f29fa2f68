/** Tells the service that this device is gone, and deletes its key. */
import { ExchangeError } from '../../resident/exchange.ts'
import { randomBytes } from 'node:crypto'
import { baseUrlOf } from '../../command-line/base-url.ts'
import { EXIT } from '../../command-line/exit.ts'
import { openKey } from '../key/device-key.ts'
import { KeyLost } from '../key/open-key.ts'
import { createChain } from '../running/chain.ts'
import { toldOf } from '../running/posture.ts'
import { createAgentService, Refused } from '../service/agent-service.ts'
import { removeTraces } from '../systemd/installation.ts'
import { newestOf } from '../state/running-state.ts'
import type { Command } from './command.ts'

export const leave: Command = {
  name: 'leave',
  summary: 'Removes this device from your tenant and deletes its key.',
  about: 'A device that the service no longer knows is deleted here all the same.',
  options: [],
  actions: [],
  async run({ world, state, proxies, print, remark }) {
    const { environment, userId, root, tpm, nowMs, platform, upS } = world
    const device = await newestOf(await state.require(), userId, root)
    const service = createAgentService({
      baseUrl: baseUrlOf(environment, device.base_url),
      proxies,
    })
    const chain = createChain({
      device,
      key: openKey(device.key, tpm),
      service,
      write: async () => undefined, // it is about to be deleted
      bootId: randomBytes(32).toString('base64url'),
      told: async () => toldOf(null, upS(), platform),
      nowMs,
    })
    const why = await chain.leave().then(() => '', whyNot)
    await state.remove()
    if (userId === 0) await removeTraces(root)
    if (why !== '')
      remark(`The service was not told: ${why}. Remove the device on the Devices page.`)
    print(`Left ${device.tenant_id}. The key in ${state.path} is deleted.`)
    return EXIT.done
  },
}

function whyNot(error: unknown): string {
  if (error instanceof Refused)
    return error.code === 'device_refused' ? 'it does not know this device' : 'it refused'
  if (error instanceof KeyLost) return 'the TPM has lost the key'
  return error instanceof ExchangeError ? 'it cannot be reached' : 'the key cannot be used'
}
