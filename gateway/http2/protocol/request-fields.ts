/** What the protocol itself has to know of a request's fields; whether they may be served is asked later. */
const LENGTH = /^\d{1,15}$/
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const NOT_IN_VALUES = /[\0\r\n]/

export interface RequestMeaning {
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

export const isTrailerField = (name: string, value: string): boolean =>
  NAME.test(name) && !NOT_IN_VALUES.test(value)
