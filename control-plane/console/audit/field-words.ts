/** What a field of an entry is called where its form has a name for it; any other reads as a name. */
import { SECOND_MS } from '../../../shared/clock.ts'
import type { Difference } from '../blocks/diff.ts'
import type { AlertMetric } from '../../store/monitoring-names.ts'
import { logMomentText } from '../blocks/text.ts'
import { durationText } from '../durations.ts'
import { checkTitle } from '../tenant/check-titles.ts'
import { METRIC_LABELS } from '../tenant/alert-form.ts'

const FIELDS: Readonly<Record<string, string>> = {
  about: 'About',
  brand_colour: 'Color',
  brand_logo: 'Logo',
  brand_logo_tag: 'Logo',
  by: 'By',
  ca_pem: 'CA certificate',
  cool_down_seconds: 'Cooldown',
  email: 'Email address',
  email_language: 'Email language',
  email_recipients: 'Other addresses',
  excluded: 'Public paths',
  expires_in: 'Valid for',
  force: 'Forced',
  health: 'Health path',
  idle_seconds: 'Idle timeout',
  ignored: 'Failed checks ignored',
  ip: 'IP address',
  address: 'IP address',
  is_enabled: 'Enabled',
  licence: 'License',
  licence_blocks_signin: 'License blocks sign-in',
  max_session_seconds: 'Maximum session length',
  missing: 'Checks missing',
  mode: 'Enforcement mode',
  not_before: 'Sessions from before',
  q: 'Search',
  sealed: 'Sealed paths',
  session_binding: 'If the browser or network changes',
  sid: 'Session',
  subject: 'Person',
  threshold: 'Alert at or above',
  url: 'URL',
  user_id: 'Person',
  window_seconds: 'Within',
}
const SHORT: Readonly<Record<string, string>> = { id: 'ID', ids: 'IDs', ip: 'IP', pem: 'PEM', url: 'URL', api: 'API', cli: 'CLI', tls: 'TLS' } // prettier-ignore

const KINDS: Readonly<Record<string, string>> = {
  totp: 'authenticator app',
  passkey: 'passkey',
  directory: 'of the user directory',
}

const LANGUAGES: Readonly<Record<string, string>> = { en: 'English', de: 'German' }

/** As the service itself keeps some: `windowSeconds`. */
const asNoted = (name: string): string =>
  /^[a-z]+(?:[A-Z][a-z\d]*)+$/.test(name)
    ? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : name

/** Words stay as they are. */
function fieldText(name: string): string {
  const known = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
  if (known !== undefined || !/^[a-z\d]+(?:[_.][a-z\d]+)*$/.test(name)) return known ?? name
  const isPart = name.startsWith('is_')
  const words = name
    .split(/[_.]/)
    .slice(isPart ? 1 : 0)
    .map((word) => (Object.hasOwn(SHORT, word) ? SHORT[word] : word))
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** Times are noted as tokens have them, or as programs read them; lengths of time in seconds. */
function valueText(name: string, value: unknown): unknown {
  const isLength = name.endsWith('_seconds') || name === 'expires_in'
  if (isLength && typeof value === 'number') return durationText(value)
  if (name === 'metric') return METRIC_LABELS[value as AlertMetric] ?? value
  if (name === 'not_before' && typeof value === 'number') return logMomentText(value * SECOND_MS)
  // a picture cannot be shown here; two of them can be told apart
  if (name === 'brand_logo_tag' && typeof value === 'string') return `image ${value.slice(0, 6)}`
  if (name === 'email_language') return LANGUAGES[String(value)] ?? value
  if (name === 'missing' && Array.isArray(value)) return value.map(String).map(checkTitle)
  if (name === 'kind') return KINDS[String(value)] ?? value
  const isTime = typeof value === 'string' && ISO_TIME.test(value)
  return isTime ? logMomentText(Date.parse(value)) : value
}

export const inWords = (items: readonly Difference[]): Difference[] =>
  items.map(({ about, from, to, ...item }) => {
    const name = asNoted(item.name)
    const inWord = (value: unknown) => valueText(name, value)
    const values = { about: inWord(about), from: inWord(from), to: inWord(to) }
    return { ...item, ...values, name: fieldText(name) }
  })
