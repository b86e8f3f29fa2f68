/** Why there was no answer, in a sentence, and what a person can do about it. */
import { Problem } from '../command-line/exit.ts'
import type { Environment } from '../command-line/base-url.ts'
import { plainText } from '../command-line/words.ts'

export interface NetworkPlace {
  readonly baseUrl: string
  readonly environment: Environment
  readonly nodeVersion: string
}

const REASONS: Readonly<Record<string, readonly [reason: string, advice?: string]>> = {
  ECONNREFUSED: ['the connection was refused', 'Nothing listens there, or a firewall blocks it.'],
  ECONNRESET: ['the connection was interrupted'],
  EPIPE: ['the connection was interrupted'],
  UND_ERR_SOCKET: ['the connection was interrupted'],
  ENOTFOUND: [
    'the name does not resolve',
    'Check your network connection and the spelling of the name.',
  ],
  EAI_AGAIN: [
    'the name does not resolve',
    'Check your network connection and the spelling of the name.',
  ],
  EHOSTUNREACH: ['the host is unreachable', 'Check your network connection or VPN.'],
  ENETUNREACH: ['the host is unreachable', 'Check your network connection or VPN.'],
  ETIMEDOUT: ['the connection timed out', 'A firewall may be blocking it.'],
  UND_ERR_CONNECT_TIMEOUT: ['the connection timed out', 'A firewall may be blocking it.'],
  UND_ERR_HEADERS_TIMEOUT: ['there was no response in time'],
  UND_ERR_BODY_TIMEOUT: ['there was no response in time'],
  ERR_SSL_WRONG_VERSION_NUMBER: [
    'that port does not speak TLS',
    'If the service runs without TLS, use an http:// address.',
  ],
  EPROTO: [
    'that port does not speak TLS',
    'If the service runs without TLS, use an http:// address.',
  ],
  CERT_HAS_EXPIRED: [
    'its TLS certificate has expired',
    'If not, the clock of this machine is wrong; check it: date',
  ],
  CERT_NOT_YET_VALID: [
    'its TLS certificate is not valid yet',
    'The clock of this machine may be wrong; check it: date',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'its TLS certificate is for another name',
    'Use the hostname in the certificate.',
  ],
}

/** With a CA of a company in between, or of a test installation. */
const OWN_CA = 'If you use your own CA: export NODE_EXTRA_CA_CERTS=/path/to/ca.pem'

export function networkProblem(error: unknown, place: NetworkPlace): Problem {
  const { baseUrl } = place
  const [reason, advice = ''] = reasonOf(error)
  return new Problem(
    'unreachable',
    `${baseUrl} cannot be reached: ${reason}.`,
    advice,
    proxyAdvice(place),
    `For details: curl -i ${baseUrl}/api/v1/contract · service-analyzer doctor`,
  )
}

export function isTlsProblem(error: unknown): boolean {
  return /CERT|SIGNED|UNABLE_TO_|TLS|SSL|EPROTO/.test(codeOf(error))
}

function reasonOf(error: unknown): readonly [string, string?] {
  if ((error as Error | undefined)?.name === 'TimeoutError')
    return ['there was no response in time']
  const code = codeOf(error)
  const known = REASONS[code]
  if (known !== undefined) return known
  if (isTlsProblem(error)) return [`its TLS certificate is not accepted (${code})`, OWN_CA]
  const { name = '', message = '' } = ((error as Error | undefined)?.cause ?? {}) as Partial<Error>
  if (message === 'bad port')
    return ['it is a port that fetch blocks', 'Run the service on another port.']
  if (name === 'HTTPParserError') return ['the server there does not speak HTTP']
  return [code === '' ? 'the connection failed' : `the connection failed (${code})`]
}

function codeOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } }
  return plainText(cause?.code ?? code)
}

interface ProxyState {
  /** The variable that is set, as it is spelt. */
  readonly variable: string
  readonly isUsed: boolean
  /** What turns it on; '' where this Node has no such thing. */
  readonly switch: string
}

/** Node's `fetch` asks no proxy by itself: since 22.21 and 24.0 it can be told to. */
export function proxyState({ baseUrl, environment, nodeVersion }: NetworkPlace): ProxyState | null {
  const scheme = baseUrl.startsWith('https:') ? 'https_proxy' : 'http_proxy'
  const names = [scheme, scheme.toUpperCase()]
  const variable = names.find((name) => (environment[name] ?? '') !== '')
  if (variable === undefined) return null
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  const canUse = major >= 24 || (major === 22 && minor >= 21)
  const isOn = environment['NODE_USE_ENV_PROXY'] === '1'
  return {
    variable,
    isUsed: canUse && isOn,
    switch: canUse ? 'export NODE_USE_ENV_PROXY=1' : '',
  }
}

function proxyAdvice(place: NetworkPlace): string {
  const proxy = proxyState(place)
  if (proxy === null || proxy.isUsed) return ''
  return proxy.switch === ''
    ? `${proxy.variable} is set, but Node ${place.nodeVersion} ignores it. With Node 24: export NODE_USE_ENV_PROXY=1`
    : `${proxy.variable} is set, but Node only uses it with: ${proxy.switch}`
}
