/**
 * Which requests at the port are a person's browser on its way: a navigation, to our own address,
 * with one path. Any page can send a browser here; none can read what comes back, and nothing but a
 * signed challenge does anything.
 */
import { LIMITS } from '../../../../shared/limits.ts'
import { LOOPBACK } from '../../resident/loopback.ts'

interface RequestSeen {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
}

const PATH = /^\/p\/([\w-]+\.[\w-]+\.[\w-]+)$/

/** A page that has a browser send this header asks us first, and is told 404. */
export const CODE_REQUEST = {
  path: '/code',
  header: 'service-device-agent',
  value: 'code',
} as const
/** What browsers add by themselves. */
const BY_BROWSERS = /^(?:origin|cookie|referer|sec-.*)$/

/** A program on this machine asks for a code to show. */
export function isCodeRequest({ method, url, rawHeaders }: RequestSeen, port: number): boolean {
  const { path, header, value } = CODE_REQUEST
  if (method !== 'GET' || url !== path) return false
  if (valuesIn(rawHeaders, 'host').join() !== `${LOOPBACK}:${port}`) return false
  if (valuesIn(rawHeaders, header).join() !== value) return false
  return !rawHeaders.some((name, at) => at % 2 === 0 && BY_BROWSERS.test(name.toLowerCase()))
}

const valuesIn = (rawHeaders: readonly string[], name: string) =>
  rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)

/** The challenge; null: not one of these. */
export function challengeIn(request: RequestSeen, port: number): string | null {
  const { method, url = '', rawHeaders } = request
  const valuesOf = (name: string) => valuesIn(rawHeaders, name)
  /** Browsers that send it send this; others send nothing. */
  const isWhereSent = (name: string, wanted: string) =>
    valuesOf(name).every((value) => value === wanted)

  if (method !== 'GET' || url.length > LIMITS.deviceProofUrlBytesMax) return null
  const hosts = valuesOf('host')
  // another name that leads here is how a page of somebody else would come to read answers
  if (hosts.length !== 1 || hosts[0] !== `${LOOPBACK}:${port}`) return null
  if (!isWhereSent('sec-fetch-mode', 'navigate')) return null
  if (!isWhereSent('sec-fetch-dest', 'document')) return null
  // a page that is fetched ahead of time has nobody who wants it
  if (valuesOf('sec-purpose').length > 0 || valuesOf('purpose').length > 0) return null
  if (valuesOf('content-length').length > 0 || valuesOf('transfer-encoding').length > 0) return null
  return PATH.exec(url)?.[1] ?? null
}
