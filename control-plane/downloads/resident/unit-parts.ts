/** What units of ours are made of: how they are kept in, and how words stand in them. */

/** All that Node can live with. `MemoryDenyWriteExecute` is not among it: V8 compiles while it runs. */
export const HARDENING = [
  'NoNewPrivileges=yes',
  'CapabilityBoundingSet=',
  'AmbientCapabilities=',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'ProtectProc=invisible',
  'PrivateTmp=yes',
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
export const escaped = (text: string) => text.replaceAll('%', '%%')

/** `%S` is meant as it stands. */
export function commandWord(text: string): string {
  const kept = text.startsWith('%S/') ? text : escaped(text)
  return /^[\w@%+=:,./-]+$/.test(kept) ? kept : `"${quoted(kept).replaceAll('$', '$$$$')}"`
}

export const environmentLine = ([name, value]: readonly [string, string]): string =>
  `Environment="${quoted(escaped(`${name}=${value}`))}"`

const quoted = (text: string) => text.replaceAll(/["\\]/g, (sign) => `\\${sign}`)
