import { randomBytes } from 'node:crypto'

/** Unique over restarts and workers; cheap, since one is made for every request. */
export function createRequestIds(): () => string {
  const prefix = randomBytes(8).toString('base64url')
  let count = 0
  return () => {
    count++
    return `${prefix}-${count.toString(36)}`
  }
}
