/**
 * Names to addresses without the thread pool: `getaddrinfo` blocks one of its four threads for as
 * long as a name server is silent, and with them every other tenant. So the hosts file is read
 * here, the rest is asked over c-ares, and answers are kept for a while.
 */
import { readFileSync } from 'node:fs'
import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { LRUCache } from 'lru-cache'
import { isLocalhost } from '../../shared/hosts.ts'
import type { SteadyClock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { searched } from '../../shared/search-list.ts'

export interface Address {
  readonly address: string
  readonly family: 4 | 6
}
/** All addresses of a name; rejects, or is empty, where there is none. */
export type Resolve = (name: string) => Promise<readonly Address[]>

/** A change of address is followed within this time, whatever the record's own life is. */
const KEPT_MS = 30_000
/** After that an old answer still serves while a name server is silent. */
const STALE_MS = 10 * 60_000
const FAILED_MS = 1000

interface Answer {
  readonly addresses: readonly Address[]
  readonly freshUntilMs: number
}

export function createNames(world: { readonly clock: SteadyClock; readonly resolve?: Resolve }) {
  const own = world.resolve === undefined ? createResolve() : undefined
  const resolve = world.resolve ?? own!.resolve
  const answers = new LRUCache<string, Answer>({ max: LIMITS.resolvedNamesMax, ttl: STALE_MS })
  const pending = new Map<string, Promise<readonly Address[]>>()

  /** One question per name at a time, whoever asks. */
  function ask(name: string): Promise<readonly Address[]> {
    const running = pending.get(name)
    if (running !== undefined) return running
    const asked = resolve(name)
      .catch((): readonly Address[] => [])
      .then((addresses) => {
        const nowMs = world.clock.steadyMs()
        const known = answers.get(name)
        if (addresses.length > 0) answers.set(name, { addresses, freshUntilMs: nowMs + KEPT_MS })
        else if (known !== undefined)
          answers.set(name, { addresses: known.addresses, freshUntilMs: nowMs + FAILED_MS })
        return addresses.length > 0 ? addresses : (known?.addresses ?? [])
      })
      .finally(() => pending.delete(name))
    pending.set(name, asked)
    return asked
  }

  async function find(name: string): Promise<readonly Address[]> {
    const known = answers.get(name)
    if (known === undefined) return ask(name)
    if (known.freshUntilMs <= world.clock.steadyMs()) void ask(name)
    return known.addresses
  }

  const lookup: LookupFunction = (name, options, callback) => {
    void find(name).then((addresses) => {
      const family = options.family === 4 || options.family === 6 ? options.family : 0
      const usable = addresses.filter((item) => family === 0 || item.family === family)
      const first = usable[0]
      if (first === undefined) {
        const error: NodeJS.ErrnoException = new Error(`no address for ${name}`)
        error.code = 'ENOTFOUND'
        callback(error, '', 0)
      } else if (options.all === true) callback(null, [...usable])
      else callback(null, first.address, first.family)
    })
  }

  return {
    lookup,
    close() {
      own?.close()
      answers.clear()
    },
  }
}

const HOSTS_FILE = '/etc/hosts'

/** The hosts file, then A and AAAA side by side; the search list of resolv.conf for short names. */
function createResolve() {
  const resolver = new Resolver({ timeout: 2000, tries: 3 })
  const resolve: Resolve = async (name) => {
    const listed = hostsFileEntries(readText(HOSTS_FILE), name)
    if (listed.length > 0) return listed
    if (isLocalhost(name))
      return [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]
    for (const candidate of [name, ...searched(name, readText('/etc/resolv.conf'))]) {
      const [four, six] = await Promise.all([
        resolver.resolve4(candidate).catch((): string[] => []),
        resolver.resolve6(candidate).catch((): string[] => []),
      ])
      if (four.length + six.length > 0)
        return [
          ...four.map((address) => ({ address, family: 4 as const })),
          ...six.map((address) => ({ address, family: 6 as const })),
        ]
    }
    return []
  }
  return { resolve, close: () => resolver.cancel() }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

export function hostsFileEntries(text: string, name: string): Address[] {
  const found: Address[] = []
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family !== 0 && names.some((alias) => alias.toLowerCase() === name.toLowerCase()))
      found.push({ address, family: family as 4 | 6 })
  }
  return found.sort((a, b) => a.family - b.family)
}
