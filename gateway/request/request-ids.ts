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

/** UUIDs and their like: nothing that would have to be escaped in a header or a log line. */
const REQUEST_ID = /^[A-Za-z0-9._~:=+/@-]{1,128}$/

/** An id from outside; only a trusted proxy's is asked about. */
export const isRequestId = (text: string): boolean => REQUEST_ID.test(text)
