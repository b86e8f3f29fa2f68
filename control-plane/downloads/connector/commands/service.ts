/** The connector as a service of this machine, by systemd. */
import { EXIT } from '../../command-line/exit.ts'
import { readLocalPort } from '../local/port.ts'
import { install, uninstall, unitFor } from '../systemd/installation.ts'
import { createSystemctl } from '../../resident/systemctl.ts'
import { UNIT_NAME } from '../systemd/unit.ts'
import type { Command } from './command.ts'

const ROOT = '/'

export const service: Command = {
  name: 'service',
  summary: 'Installs or removes the connector as a service of this machine (systemd).',
  about:
    'Join first, as root. The service runs a copy of this program as a user of its own, which reads no home folder; it starts with the machine and restarts if it stops. After an update, install it again.',
  options: ['local-port', 'print'],
  actions: ['install', 'uninstall'],
  async run({ given, world, state, print }) {
    const { environment, nodeFile, programFile, platform, userId } = world
    const { action, options } = given
    const localPort = String(readLocalPort(options.get('local-port')) ?? 'none')
    const wish = { state, environment, nodeFile, programFile, localPort }
    const systemctl = createSystemctl('service-connector')
    const machine = { root: ROOT, systemctl, platform, userId }
    if (options.has('print')) print((await unitFor(wish, ROOT)).text.trimEnd())
    else if (action === 'install') {
      await install(machine, wish)
      print(
        `${UNIT_NAME} is installed and runs.\nHow it is: service-connector status\nIts log:   journalctl -u service-connector`,
      )
    } else if (await uninstall(machine, state))
      print(
        `${UNIT_NAME} is removed. The connector is still joined in ${state.path}: to remove it from your tenant, service-connector leave.`,
      )
    else print(`${UNIT_NAME} is not installed; there is nothing to remove.`)
    return EXIT.done
  },
}
