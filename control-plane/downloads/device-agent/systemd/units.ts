/**
 * The units of the agent. The listener is a user of its own without any rights; the collector is
 * root, comes every five minutes and goes again. Nothing secret stands in them: everybody may read them.
 */
import { LIMITS } from '../../../../shared/limits.ts'
import { VERSION } from '../../../../shared/version.ts'
import { commandWord, environmentLine, escaped, HARDENING } from '../../resident/unit-parts.ts'
import { OWN_STATE, RUNNING_STATE } from '../places.ts'

export const LISTENER = 'service-device-agent.service'
export const COLLECTOR = 'service-device-collector.service'
export const TIMER = 'service-device-collector.timer'

/** `service uninstall` removes only what begins like this. */
export const UNIT_MARK = '# Written by service-device-agent'

interface UnitsWish {
  readonly nodeFile: string
  readonly programFile: string
  /** Where the program is, and a newer one may be put by the collector. */
  readonly programFolder: string
  /** Read by systemd itself, before it gives up its rights. By name, as files. */
  readonly credentials: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string>>
  /** The group that may use the TPM, where the key is in it. */
  readonly tpm: { readonly device: string; readonly group: number } | undefined
}

export function unitTexts(wish: UnitsWish): Readonly<Record<string, string>> {
  return { [LISTENER]: listener(wish), [COLLECTOR]: collector(wish), [TIMER]: timer() }
}

const text = (...lines: readonly string[]) =>
  `${UNIT_MARK} ${VERSION}: "service-device-agent service uninstall" takes it back.\n${lines.join('\n')}\n`

function listener({ nodeFile, programFile, credentials, environment, tpm }: UnitsWish): string {
  const run = [nodeFile, programFile, 'run', '--state', `%S/${RUNNING_STATE}`]
  return text(
    '[Unit]',
    'Description=Device agent of the sign-in protection service',
    'Wants=network-online.target',
    'After=network-online.target',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${run.map(commandWord).join(' ')}`,
    ...Object.entries(environment).map(environmentLine),
    'Restart=always',
    'RestartSec=5',
    'TimeoutStopSec=20',
    '',
    '# A user that exists while it runs, a folder of its own, and its key from there or from here.',
    'DynamicUser=yes',
    `StateDirectory=${RUNNING_STATE}`,
    'StateDirectoryMode=0700',
    'UMask=0077',
    ...Object.entries(credentials).map(([name, file]) => `LoadCredential=${name}:${escaped(file)}`),
    ...(tpm === undefined
      ? ['PrivateDevices=yes']
      : [`SupplementaryGroups=${tpm.group}`, `DeviceAllow=${tpm.device} rw`]),
    '',
    ...HARDENING,
    'ProcSubset=pid',
    '',
    '[Install]',
    'WantedBy=multi-user.target',
  )
}

/** What looks at disks, firewall and sessions, and puts a newer program into its place, and no more. */
function collector({ nodeFile, programFile, programFolder, environment }: UnitsWish): string {
  return text(
    '[Unit]',
    'Description=Collects what the device agent tells of this machine',
    '',
    '[Service]',
    'Type=oneshot',
    `ExecStart=${[nodeFile, programFile, 'collect'].map(commandWord).join(' ')}`,
    ...Object.entries(environment).map(environmentLine),
    'TimeoutStartSec=120',
    'Nice=10',
    'IOSchedulingClass=idle',
    `RuntimeDirectory=${OWN_STATE}`,
    'RuntimeDirectoryPreserve=yes',
    '',
    'NoNewPrivileges=yes',
    'ProtectSystem=full',
    `ReadWritePaths=${escaped(programFolder)}`,
    'ProtectHome=read-only',
    'PrivateTmp=yes',
    'ProtectClock=yes',
    'ProtectHostname=yes',
    'ProtectKernelModules=yes',
    'ProtectKernelTunables=yes',
    'LockPersonality=yes',
    'RestrictNamespaces=yes',
    'RestrictRealtime=yes',
    'RestrictSUIDSGID=yes',
    'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
    'SystemCallArchitectures=native',
  )
}

const timer = () =>
  text(
    '[Unit]',
    'Description=Collects what the device agent tells of this machine, every few minutes',
    '',
    '[Timer]',
    'OnActiveSec=1s',
    'OnBootSec=30s',
    `OnUnitActiveSec=${LIMITS.deviceCollectSeconds}s`,
    'AccuracySec=15s',
    '',
    '[Install]',
    'WantedBy=timers.target',
  )
