/** Which program comes next, if our own service has signed it; and whether that is forward. */
import * as v from 'valibot'
import { DEVICE_MESSAGES, UpdateSchema } from '../../../../shared/device/messages.ts'
import { pinnedKeys, verifiedAs } from '../signed.ts'
import type { Updates } from '../state/device-state.ts'

type Manifest = v.InferOutput<typeof UpdateSchema>

/** null: nobody whom this machine believes has signed it. */
export function manifestIn(text: string, { keys }: Pick<Updates, 'keys'>): Manifest | null {
  const payload = verifiedAs(DEVICE_MESSAGES.update, text, pinnedKeys(keys))
  const read = v.safeParse(UpdateSchema, payload)
  return read.success ? read.output : null
}

/** What is not written as three numbers is newer than nothing. */
export function isNewer(version: string, than: string): boolean {
  const [ours, theirs] = [numbersIn(than), numbersIn(version)]
  if (ours === null || theirs === null) return false
  const at = theirs.findIndex((number, place) => number !== ours[place])
  return at !== -1 && (theirs[at] ?? 0) > (ours[at] ?? 0)
}

function numbersIn(version: string): readonly number[] | null {
  const [, ...parts] = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/.exec(version) ?? []
  return parts.length === 3 ? parts.map(Number) : null
}
