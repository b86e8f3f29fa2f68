/** A machine of files, links and what commands answer. */
import type {
  Command,
  CommandResult,
  Machine,
} from '../../../../../control-plane/downloads/device-agent/facts/machine.ts'

export interface Pretended {
  readonly platform?: string
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Path to where it leads. */
  readonly links?: Readonly<Record<string, string>>
  /** Empty ones; those of files and links are there. */
  readonly folders?: readonly string[]
  readonly writtenMs?: Readonly<Record<string, number>>
  readonly nowMs?: number
  /** By name and arguments, or by name: what it prints, or how it ends. */
  readonly commands?: Readonly<Record<string, string | CommandResult>>
}

export function pretendedMachine(pretended: Pretended): Machine & { readonly ran: Command[] } {
  const { files = {}, links = {}, folders = [], commands = {}, writtenMs = {} } = pretended
  const paths = [...Object.keys(files), ...Object.keys(links), ...folders]
  const through = (path: string): string => {
    const link = Object.keys(links).find((from) => path === from || path.startsWith(`${from}/`))
    return link === undefined ? path : through(`${links[link]}${path.slice(link.length)}`)
  }
  const isThere = (path: string) =>
    paths.some((known) => known === path || known.startsWith(`${path}/`))
  const ran: Command[] = []
  return {
    platform: pretended.platform ?? 'linux',
    ran,
    nowMs: () => pretended.nowMs ?? 0,
    bytes(path) {
      const file = files[through(path)]
      const bytes = typeof file === 'string' ? Buffer.from(file) : (file ?? null)
      return Promise.resolve(bytes)
    },
    names(path) {
      const folder = through(path)
      if (!isThere(folder)) return Promise.resolve(null)
      const below = paths
        .filter((known) => known.startsWith(`${folder}/`))
        .map((known) => known.slice(folder.length + 1).split('/')[0] ?? '')
      return Promise.resolve([...new Set(below)])
    },
    resolved(path) {
      const target = through(path)
      return Promise.resolve(isThere(target) ? target : null)
    },
    writtenMs: (path) => Promise.resolve(writtenMs[path] ?? (files[path] === undefined ? null : 0)),
    run(command) {
      ran.push(command)
      const name = command.file.split(/[/\\]/).at(-1) ?? ''
      const found = commands[[name, ...command.args].join(' ')] ?? commands[name]
      const isHere = command.file.startsWith('/usr/bin/') || command.file.startsWith('%')
      if (found === undefined || !isHere) return Promise.resolve({ kind: 'missing' })
      const result = typeof found === 'string' ? { kind: 'ended', code: 0, text: found } : found
      return Promise.resolve(result as CommandResult)
    },
  }
}

export interface PretendedDevice {
  readonly slaves?: readonly string[]
  readonly uuid?: string
  /** `8:3`, to be found by a mount. */
  readonly number?: string
  /** Of which disk it is a part. */
  readonly partOf?: string
  readonly backing?: string
}

/** `/sys` as the kernel has it: a device in the folder of its bus, a partition in that of its disk. */
export function sysfs(devices: Readonly<Record<string, PretendedDevice>>) {
  const files: Record<string, string> = {}
  const links: Record<string, string> = {}
  const folders: string[] = []
  const placeOf = (name: string): string => {
    const { partOf } = devices[name] ?? {}
    return partOf === undefined ? `/sys/devices/block/${name}` : `${placeOf(partOf)}/${name}`
  }
  for (const [name, { slaves = [], uuid, number, partOf, backing }] of Object.entries(devices)) {
    const place = placeOf(name)
    folders.push(`${place}/slaves`)
    links[`/sys/class/block/${name}`] = place
    if (number !== undefined) links[`/sys/dev/block/${number}`] = place
    if (uuid !== undefined) files[`${place}/dm/uuid`] = `${uuid}\n`
    if (partOf !== undefined) files[`${place}/partition`] = '2\n'
    if (backing !== undefined) files[`${place}/loop/backing_file`] = `${backing}\n`
    for (const slave of slaves) folders.push(`${place}/slaves/${slave}`)
  }
  return { files, links, folders }
}
