/**
 * Security updates that are known of here and not installed, and a restart that is due. Nothing is
 * asked of a network: what the machine fetched last counts, and says nothing once it is old.
 */
import { LIMITS } from '../../../../../shared/limits.ts'
import { fact, some, unanswered, type FactOf, type Probe } from '../fact.ts'
import { textOf, type Earlier, type Machine } from '../machine.ts'
import { ask } from './programs.ts'

type UpdateFact = FactOf<'up_to_date'>

export const upToDate: Probe<'up_to_date'> = async (machine, earlier) => {
  if (await isThere(machine, '/run/reboot-required')) return await restartNeeded(machine)
  // both may be installed; whose database has packages is in charge
  if (await isThere(machine, '/var/lib/dpkg/status')) return await byApt(machine, earlier)
  if (await isThere(machine, '/run/ostree-booted')) return fact('unknown', NOT_KNOWN, 'ostree')
  const dnf = await isThere(machine, '/etc/dnf/dnf.conf')
  return dnf ? await byDnf(machine) : fact('unknown', NOT_KNOWN)
}

const NOT_KNOWN = 'package_manager_not_known'

const isThere = async (machine: Machine, path: string) => (await machine.writtenMs(path)) !== null

async function restartNeeded(machine: Machine): Promise<UpdateFact> {
  const text = (await textOf(machine, '/run/reboot-required.pkgs')) ?? ''
  const packages = new Set(text.split('\n').filter((line) => line !== ''))
  return fact(false, 'restart_needed', some([...packages]))
}

/** The youngest of these was touched by the last `apt update` that came through. */
const APT_STAMPS = [
  '/var/lib/apt/periodic/update-success-stamp',
  '/var/lib/apt/lists/partial',
  '/var/lib/apt/lists',
]

async function byApt(machine: Machine, earlier: Earlier): Promise<UpdateFact> {
  const old = await oldData(machine, APT_STAMPS)
  if (old !== null) return old
  const lists = (await machine.names('/var/lib/apt/lists')) ?? []
  if (!lists.some((name) => name.includes('_Packages')))
    return fact('unknown', 'update_data_missing')
  if (!lists.some((name) => /-security_|_security\./.test(name)))
    return fact('unknown', 'security_source_missing')
  const stamp = await stampOf(machine, ['/var/lib/dpkg/status', ...APT_STAMPS])
  const [known, ...lines] = earlier.get('apt')?.split('\n') ?? []
  if (known === stamp) return ofUpdates(parseAptUpdates(lines.join('\n')))
  // a simulation: takes no lock and changes nothing
  const result = await ask(machine, 'apt-get', [
    '--simulate',
    '--quiet=2',
    '-o',
    'Debug::NoLocking=true',
    'dist-upgrade',
  ])
  if (result.kind !== 'ended' || result.code !== 0) return unanswered(result, 'apt-get')
  const found = result.text.split('\n').filter((line) => line.startsWith('Inst '))
  earlier.set('apt', [stamp, ...found].join('\n'))
  return ofUpdates(parseAptUpdates(result.text))
}

/** Two seconds of computing, unless something has changed since. */
async function stampOf(machine: Machine, paths: readonly string[]): Promise<string> {
  const written = await Promise.all(paths.map((path) => machine.writtenMs(path)))
  return written.join(' ')
}

interface Updates {
  readonly security: readonly string[]
  readonly others: number
}

/** `Inst openssl [3.0.14-1] (3.0.15-1 Debian-Security:12/stable-security [amd64])` */
function parseAptUpdates(text: string): Updates {
  const lines = text.split('\n').flatMap((line) => {
    const [, name, from] = /^Inst (\S+) \[[^\]]*\] \(\S+ (.*?)(?:\[[^\]]*\])?\)/.exec(line) ?? []
    return name === undefined || from === undefined ? [] : [{ name, from }]
  })
  const security = lines.filter(({ from }) => /-security\b|Debian-Security:/.test(from))
  return { security: security.map(({ name }) => name), others: lines.length - security.length }
}

function ofUpdates({ security, others }: Updates): UpdateFact {
  if (security.length > 0) return fact(false, 'security_updates', some(security))
  return fact(true, 'up_to_date', others > 0 ? `(+${others})` : '')
}

async function byDnf(machine: Machine): Promise<UpdateFact> {
  const old = await oldData(machine, await dnfStamps(machine))
  if (old !== null) return old
  const args = ['--cacheonly', '--quiet', 'updateinfo', 'list', '--security']
  const result = await ask(machine, 'dnf', args)
  if (result.kind !== 'ended' || result.code !== 0) return unanswered(result, 'dnf')
  return ofUpdates({ security: parseDnfUpdates(result.text), others: 0 })
}

/** Of DNF 4 in one folder, of DNF 5 in one for each source. */
async function dnfStamps(machine: Machine): Promise<readonly string[]> {
  const folder = '/var/cache/libdnf5'
  const sources = (await machine.names(folder)) ?? []
  const ofFive = sources.map((name) => `${folder}/${name}/repodata/repomd.xml`)
  return ['/var/cache/dnf/last_makecache', ...ofFive]
}

/**
 * DNF 4: `FEDORA-2024-1a2b Important/Sec. openssl-1:3.1.4-2.fc39.x86_64`;
 * DNF 5: `FEDORA-2025-1a2b security Important openssl-1:3.2.4-1.fc41.x86_64 2025-02-19 01:10:11`.
 */
function parseDnfUpdates(text: string): readonly string[] {
  const packages = text.split('\n').flatMap((line) => {
    const words = line.trim().split(/\s+/)
    const [advisory = ''] = words
    const isSecurity = words.some((word) => word === 'security' || word.endsWith('/Sec.'))
    const found = words.find((word) => /^\S+-\S+-\S+\.(?:noarch|[a-z0-9_]+)$/.test(word))
    return isSecurity && found !== undefined && found !== advisory ? [nameOf(found)] : []
  })
  return [...new Set(packages)]
}

/** `openssl-1:3.1.4-2.fc39.x86_64` is the package `openssl`. */
const nameOf = (full: string) => full.replace(/-[^-]+-[^-]+$/, '')

async function oldData(machine: Machine, stamps: readonly string[]): Promise<UpdateFact | null> {
  const written = await Promise.all(stamps.map((path) => machine.writtenMs(path)))
  const known = written.filter((ms) => ms !== null)
  if (known.length === 0) return fact('unknown', 'update_data_missing')
  const days = Math.floor((machine.nowMs() - Math.max(...known)) / 86_400_000)
  return days > LIMITS.deviceUpdateDataDaysMax
    ? fact('unknown', 'update_data_old', `${days} d`)
    : null
}
