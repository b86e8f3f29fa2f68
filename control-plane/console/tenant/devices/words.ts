/** Devices in words and badges: what the console says wherever one is shown. */
import { html } from 'hono/html'
import {
  DEVICE_FACTS,
  type DeviceFact,
  type DevicePlatform,
  type Fact,
  type KeyStorage,
} from '../../../../shared/device/facts.ts'
import type { DeviceState } from '../../../../shared/device/messages.ts'
import type { ListedDevice } from '../../../devices/management.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { DEVICE_WORDS } from '../../../../shared/device-words/say-reason.ts'
import type { Html } from '../../../pages/html.ts'
import { badge, type Tone } from '../../blocks/text.ts'

export const STATES: Readonly<Record<DeviceState, { label: string; tone: Tone }>> = {
  approved: { label: 'Approved', tone: 'good' },
  pending: { label: 'Not approved', tone: 'plain' },
  suspect_clone: { label: 'Possible copy', tone: 'bad' },
  revoked: { label: 'Revoked', tone: 'bad' },
}

export const stateBadge = ({ state }: Pick<ListedDevice, 'state'>): Html =>
  badge(STATES[state].label, STATES[state].tone)

export const PLATFORMS: Readonly<Record<DevicePlatform, string>> = {
  linux: 'Linux',
  windows: 'Windows',
}

export const KEY_PLACES: Readonly<Record<KeyStorage, string>> = {
  tpm: 'in the TPM, as the device reports',
  file: 'in a file that only its agent can read',
}

export const factTitle = (fact: DeviceFact): string => DEVICE_WORDS.en.titles[fact]

export function valueBadge({ value }: Pick<Fact, 'value'>): Html {
  if (value === true) return badge('Yes', 'good')
  return value === false ? badge('No', 'bad') : badge('Unknown', 'warm')
}

/** `Debian 12`, as far as it has said: the ids of systems are written as people write them. */
export function systemText({ posture, platform }: Pick<ListedDevice, 'posture' | 'platform'>) {
  if (posture === null) return PLATFORMS[platform]
  const { id, version } = posture.os
  const name = id.charAt(0).toUpperCase() + id.slice(1)
  return version === '' ? name : `${name} ${version}`
}

/** Of a machine that has reported: the facts that are not as one wishes, no before unknown. */
export function shortcomings({ posture }: Pick<ListedDevice, 'posture'>) {
  if (posture === null) return []
  const found = DEVICE_FACTS.filter((fact) => posture.facts[fact].value !== true)
  return found.toSorted((a, b) => rank(posture.facts[a]) - rank(posture.facts[b]))
}

const rank = ({ value }: Fact) => (value === false ? 0 : 1)

/** Said wherever facts of devices are shown. */
export const honesty = (): Html =>
  notice(
    'info',
    'Devices report their own state.',
    html`<p>
      This finds mistakes, not attackers: whoever is an administrator of a device can forge its
      report, and malware running as the person can use the device as they do.
    </p>`,
  )
