/**
 * A name's addresses, over c-ares: `getaddrinfo` holds one of four threads for as long as a name
 * server is silent, and passwords need those.
 */
import { readFile } from 'node:fs/promises'
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'

export type Resolve = (name: string) => Promise<readonly string[]>

/** IPv4 first; none for a name that nobody knows. */
export async function resolveName(name: string, timeoutMs: number): Promise<string[]> {
  const listed = await fromHostsFile(name)
  if (listed.length > 0) return listed
  const resolver = new Resolver({ timeout: timeoutMs / 2, tries: 2 })
  const [four, six] = await Promise.all([
    resolver.resolve4(name).catch((): string[] => []),
    resolver.resolve6(name).catch((): string[] => []),
  ])
  return [...four, ...six]
}

async function fromHostsFile(name: string): Promise<string[]> {
  const text = await readFile('/etc/hosts', 'latin1').catch(() => '')
  const found = text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    return isIP(address) !== 0 && names.includes(name) ? [address] : []
  })
  return found.sort((a, b) => isIP(a) - isIP(b))
}
