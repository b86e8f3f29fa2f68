/** The unit that systemd runs the connector by. Nothing secret stands in it: everybody may read it. */
import { VERSION } from '../../../../shared/version.ts'
import { commandWord, environmentLine, escaped, HARDENING } from '../../resident/unit-parts.ts'

export const UNIT_NAME = 'service-connector.service'
/** The state while it runs: of a user that exists for it alone, below `/var/lib/private`. */
export const RUNNING_STATE = 'service-connector-running'

interface UnitWish {
  readonly nodeFile: string
  readonly programFile: string
  /** Read by systemd itself, before it gives up its rights. By name, as files. */
  readonly credentials: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string>>
  readonly localPort: string
}

/** `service uninstall` removes only what begins like this. */
export const UNIT_MARK = '# Written by service-connector'

export function unitText(wish: UnitWish): string {
  const { nodeFile, programFile, credentials, environment, localPort } = wish
  const run = [nodeFile, programFile, 'run', '--state', `%S/${RUNNING_STATE}`]
  const lines = [
    `${UNIT_MARK} ${VERSION}: "service-connector service uninstall" takes it back.`,
    '[Unit]',
    'Description=Connector of the sign-in protection service',
    'Wants=network-online.target',
    'After=network-online.target',
    '# It is tried again for as long as the machine runs.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${[...run.map(commandWord), '--local-port', localPort].join(' ')}`,
    ...Object.entries(environment).map(environmentLine),
    'Restart=always',
    'RestartSec=5',
    '# Requests that are under way are finished, for 30 seconds at most.',
    'TimeoutStopSec=45',
    'KillMode=mixed',
    'LimitNOFILE=65536',
    '',
    '# A user that exists while it runs, a folder of its own, and its key from there or from here.',
    'DynamicUser=yes',
    `StateDirectory=${RUNNING_STATE}`,
    'StateDirectoryMode=0700',
    'UMask=0077',
    ...Object.entries(credentials).map(([name, file]) => `LoadCredential=${name}:${escaped(file)}`),
    '',
    ...HARDENING,
    'PrivateDevices=yes',
    'ProcSubset=pid',
    '',
    '[Install]',
    'WantedBy=multi-user.target',
  ]
  return `${lines.join('\n')}\n`
}
