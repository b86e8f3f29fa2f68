/** Answers that are not over when they have begun, by their path; each application gives the same. */
import type { ServerResponse } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'

export const OPEN_PATHS = ['/open/stream', '/open/download', '/open/wait'] as const
export type OpenPath = (typeof OPEN_PATHS)[number]

/** What is seen of each as soon as it has begun; of a wait nothing is. */
export const BEGUN = 'begun'

const FIELDS: Readonly<Record<OpenPath, Readonly<Record<string, string>>>> = {
  '/open/stream': { 'content-type': 'text/event-stream' },
  '/open/download': { 'content-type': 'text/plain', 'content-length': '1000' },
  '/open/wait': {},
}

export interface OpenAnswer {
  readonly fields: Readonly<Record<string, string>>
  /** Undefined: there is no answer yet. */
  readonly body: Readable | undefined
}

/** Undefined for every other path. */
export function openAnswerOf(target: string): OpenAnswer | undefined {
  const path = OPEN_PATHS.find((known) => known === target)
  if (path === undefined) return undefined
  const body = new PassThrough()
  body.write(BEGUN)
  return { fields: FIELDS[path], body: path === '/open/wait' ? undefined : body }
}

/** True where the answer is such a one. */
export function leaveOpen(target: string, response: ServerResponse): boolean {
  const open = openAnswerOf(target)
  if (open === undefined) return false
  if (open.body === undefined) return true
  response.writeHead(200, open.fields)
  open.body.pipe(response)
  return true
}

export const never = (): Promise<never> => new Promise(() => undefined)
