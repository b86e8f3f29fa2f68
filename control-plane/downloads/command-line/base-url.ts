/** Where the service is: what the environment says, or the address that the program was fetched from. */
import { isThisMachine } from '../../../shared/hosts.ts'
import { Problem } from './exit.ts'

/** Put in by the bundle: the address that the program was fetched from. */
declare const BUILT_IN_BASE_URL: string | undefined

export type Environment = Readonly<Record<string, string | undefined>>

export interface BaseUrl {
  /** Without a slash at its end. */
  readonly text: string
  readonly from: 'SERVICE_BASE_URL' | 'installation'
  /** Whoever is on the way can read along. */
  readonly isOpen: boolean
}

export function readBaseUrl(environment: Environment): BaseUrl {
  const builtIn = typeof BUILT_IN_BASE_URL === 'undefined' ? undefined : BUILT_IN_BASE_URL
  const own = given(environment)
  const text = (own ?? builtIn)?.replace(/\/+$/, '')
  if (text === undefined)
    throw new Problem(
      'base_url_invalid',
      'SERVICE_BASE_URL is not set.',
      'Set it to the address of the service: export SERVICE_BASE_URL=https://id.example.com',
    )
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    /^[\x21-\x7e]+$/.test(text) &&
    url.username + url.password + url.search + url.hash === ''
  if (!isPlain)
    throw new Problem(
      'base_url_invalid',
      'SERVICE_BASE_URL must be an address like https://id.example.com.',
      'Set it to the address of the service, without a username, password or query.',
    )
  return {
    text,
    from: own === undefined ? 'installation' : 'SERVICE_BASE_URL',
    isOpen: url.protocol === 'http:' && !isThisMachine(url.hostname),
  }
}

/** The service of who has joined it: what is in the environment counts more. */
export const baseUrlOf = (environment: Environment, joinedAt: string): string =>
  given(environment) === undefined ? joinedAt : readBaseUrl(environment).text

const given = (environment: Environment) => environment['SERVICE_BASE_URL']?.trim() || undefined
