/** How a list names a browser: `Firefox, Linux`. No version, since nobody knows theirs. */
import { familyOf } from '../../shared/enforcement/fingerprint.ts'

const NAMES: Readonly<Record<string, string>> = {
  edge: 'Edge',
  opera: 'Opera',
  samsung: 'Samsung Internet',
  firefox: 'Firefox',
  chrome: 'Chrome',
  safari: 'Safari',
  ios: 'iOS',
  android: 'Android',
  windows: 'Windows',
  mac: 'macOS',
  linux: 'Linux',
}

/** Programs keep their own name; '' where there is none. */
export function browserName(userAgent: string): string {
  if (userAgent === '') return ''
  const family = familyOf(userAgent)
  const [browser = '', system = ''] = family.split('-')
  const name = NAMES[browser]
  if (name === undefined) return family === 'none' ? '' : family
  return system in NAMES ? `${name}, ${NAMES[system] ?? ''}` : name
}
