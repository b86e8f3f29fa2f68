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

/** Programs that people know; whatever else a stranger calls itself is not repeated. */
const PROGRAMS: Readonly<Record<string, string>> = {
  curl: 'curl',
  wget: 'Wget',
  'python-requests': 'Python Requests',
  'go-http-client': 'Go',
  okhttp: 'OkHttp',
  postmanruntime: 'Postman',
  node: 'Node.js',
}

/** '' where it is none of these. */
export function browserName(userAgent: string): string {
  if (userAgent === '') return ''
  const family = familyOf(userAgent)
  const [browser = '', system = ''] = family.split('-')
  const name = Object.hasOwn(NAMES, browser) ? NAMES[browser] : undefined
  if (name === undefined) return Object.hasOwn(PROGRAMS, family) ? (PROGRAMS[family] ?? '') : ''
  return system in NAMES ? `${name}, ${NAMES[system] ?? ''}` : name
}
