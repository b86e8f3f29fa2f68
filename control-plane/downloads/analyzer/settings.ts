/** Where the service is, and with which key it is asked. The key is a secret: no message holds it. */
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
  const given = environment['SERVICE_BASE_URL']?.trim() || undefined
  const text = (given ?? builtIn)?.replace(/\/+$/, '')
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
    from: given === undefined ? 'installation' : 'SERVICE_BASE_URL',
    isOpen: url.protocol === 'http:' && !isThisMachine(url.hostname),
  }
}

export function checkedKey(key: string, from: string): string {
  if (/^[\x21-\x7e]{1,512}$/.test(key)) return key
  throw new Problem(
    'key_malformed',
    `${from} contains characters that a key never has.`,
    'Copy it again, without quotes or line breaks.',
  )
}

export const keyMissing = () =>
  new Problem(
    'key_missing',
    'This command needs the analyzer key of your tenant, but none is saved.',
    "It is on your tenant's integration page. Save it once: service-analyzer login",
    'In a pipeline, set it as a secret: SERVICE_ANALYZER_KEY',
  )
