/** The unit that systemd runs the connector by. Nothing secret stands in it: everybody may read it. */
import { VERSION } from '../../../../shared/version.ts'

export const UNIT_NAME = 'service-connector.service'
/** The state while it runs: of a user that exists for it alone, below `/var/lib/private`. */
export const RUNNING_STATE = 'service-connector-running'

export interface UnitWish {
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
    ...Object.entries(environment).map(
      ([name, value]) => `Environment="${quoted(escaped(`${name}=${value}`))}"`,
    ),
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
    '',
    '[Install]',
    'WantedBy=multi-user.target',
  ]
  return `${lines.join('\n')}\n`
}

/** All that Node can live with. `MemoryDenyWriteExecute` is not among it: V8 compiles while it runs. */
const HARDENING = [
  'NoNewPrivileges=yes',
  'CapabilityBoundingSet=',
  'AmbientCapabilities=',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'ProtectProc=invisible',
  'ProcSubset=pid',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'PrivateIPC=yes',
  'DevicePolicy=closed',
  'ProtectClock=yes',
  'ProtectControlGroups=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'LockPersonality=yes',
  'KeyringMode=private',
  'RemoveIPC=yes',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallFilter=~@privileged',
  'SystemCallErrorNumber=EPERM',
] as const

/** A percent sign is systemd's own. */
const escaped = (text: string) => text.replaceAll('%', '%%')

/** `%S` is meant as it stands. */
function commandWord(text: string): string {
  const kept = text.startsWith('%S/') ? text : escaped(text)
  return /^[\w@%+=:,./-]+$/.test(kept) ? kept : `"${quoted(kept).replaceAll('$', '$$$$')}"`
}

const quoted = (text: string) => text.replaceAll(/["\\]/g, (sign) => `\\${sign}`)
