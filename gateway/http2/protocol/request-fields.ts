/** What the protocol itself has to know of a request's fields; whether they may be served is asked later. */
const LENGTH = /^\d{1,15}$/
/** RFC 9113 section 8.2.1: lower-case, and no colon but the first one of a pseudo-header. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
/** Apart from each other, as in `hasControls`: one expression for all takes ten times as long. */
const LOW_CONTROLS = /[\0-\x08\x0a-\x0f]/
const HIGH_CONTROLS = /[\x10-\x1f]/

interface RequestMeaning {
  readonly isWhole: boolean
  readonly isHead: boolean
  /** Negative: not said. */
  readonly length: number
}

/** Null: its length cannot be meant. */
export function requestMeans(fields: readonly string[], isWhole: boolean): RequestMeaning | null {
  let length = -1
  let isHead = false
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!
    if (name === ':method') isHead = fields[at + 1] === 'HEAD'
    else if (name === 'content-length') {
      const value = fields[at + 1]!
      if (length >= 0 || !LENGTH.test(value)) return null
      length = Number(value)
    }
  }
  if (isWhole && length > 0) return null
  return { isWhole, isHead, length }
}

export const isFieldName = (name: string): boolean => NAME.test(name)

/** Nor may it begin or end with a blank. */
export const isFieldValue = (value: string): boolean =>
  !isBlank(value.charCodeAt(0)) &&
  !isBlank(value.charCodeAt(value.length - 1)) &&
  !LOW_CONTROLS.test(value) &&
  !HIGH_CONTROLS.test(value) &&
  !value.includes('\x7f')

/** Of nothing the code is NaN. */
const isBlank = (code: number): boolean => code === 0x20 || code === 0x09

export function areTrailers(fields: readonly string[]): boolean {
  for (let at = 0; at < fields.length; at += 2)
    if (!isFieldName(fields[at]!) || !isFieldValue(fields[at + 1]!)) return false
  return true
}
