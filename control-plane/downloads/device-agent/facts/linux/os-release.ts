/** `ID` and `VERSION_ID` of os-release: `debian`, `12`. */
import type { Posture } from '../../../../../shared/device/facts.ts'
import { textOf, type Machine } from '../machine.ts'

export async function osRelease(machine: Machine): Promise<Posture['os']> {
  const text =
    (await textOf(machine, '/etc/os-release')) ?? (await textOf(machine, '/usr/lib/os-release'))
  return parseOsRelease(text ?? '')
}

export function parseOsRelease(text: string): Posture['os'] {
  const values = keyValues(text)
  const id = values.get('ID')?.toLowerCase() ?? ''
  const version = values.get('VERSION_ID') ?? ''
  return {
    id: /^[a-z0-9][a-z0-9._-]{0,39}$/.test(id) ? id : 'linux',
    version: /^[0-9A-Za-z][0-9A-Za-z.+~_-]{0,63}$/.test(version) ? version : '',
  }
}

/** `KEY=value`, `KEY="value"`, as a shell reads it; the last one counts. */
function keyValues(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').flatMap((line) => {
    const [, key, quoted] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    return key === undefined || quoted === undefined ? [] : [[key, unquoted(quoted)] as const]
  })
  return new Map(lines)
}

function unquoted(value: string): string {
  const [, , inside] = /^(["'])(.*)\1$/.exec(value) ?? []
  return (inside ?? value).replace(/\\(["'$`\\])/g, '$1')
}
