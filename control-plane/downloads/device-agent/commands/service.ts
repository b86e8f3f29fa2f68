/** The agent as services of this machine, by systemd. */
import { EXIT } from '../../command-line/exit.ts'
import { createSystemctl } from '../../resident/systemctl.ts'
import { install, uninstall, unitsFor } from '../systemd/installation.ts'
import type { Command } from './command.ts'

export const service: Command = {
  name: 'service',
  summary: 'Installs or removes the agent as services of this machine (systemd).',
  about: 'Enroll first, as root. The listener runs as a user of its own, the collector as root.',
  options: ['print'],
  actions: ['install', 'uninstall'],
  async run({ given, world, state, print }) {
    const { environment, nodeFile, programFile, platform, userId, root, tpm } = world
    const wish = { state, environment, nodeFile, programFile, tpm }
    const machine = {
      ...{ root, platform, userId },
      systemctl: createSystemctl('service-device-agent'),
    }
    if (given.values.has('print'))
      print(Object.values((await unitsFor(wish, root)).texts).join('\n'))
    else if (given.action === 'install') {
      await install(machine, wish)
      print('The agent is installed and runs.\nHow it is: service-device-agent status')
    } else if (await uninstall(machine)) print('The services of the agent are removed.')
    else print('The agent is not installed as a service; there is nothing to remove.')
    return EXIT.done
  },
}
