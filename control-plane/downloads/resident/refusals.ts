/** What the control plane refuses, or why it could not be asked, as a person is told it. */
import * as v from 'valibot'
import { plainText } from '../command-line/words.ts'
import type { Answer, ExchangeError } from './exchange.ts'
import { Problem, type ProblemCode } from '../command-line/exit.ts'

const RefusalAnswer = v.object({ error: v.string(), detail: v.optional(v.string(), '') })

interface Asked {
  readonly baseUrl: string
  /** What the service has a name for is said in its own words. */
  readonly named: Readonly<Record<string, ProblemCode>>
}

export function refusalOf({ baseUrl, named }: Asked, { status, body }: Answer): Problem {
  const read = v.safeParse(RefusalAnswer, body)
  if (!read.success)
    return status >= 500
      ? new Problem('service_failed', `${baseUrl} answered ${status}.`, 'Try again later.')
      : notTheService(baseUrl, status)
  const { error, detail } = read.output
  const said = plainText(detail).slice(0, 500)
  const code = named[error] ?? (status >= 500 ? 'service_failed' : 'service_refused')
  return new Problem(code, said === '' ? `${baseUrl} answered ${status} (${error}).` : said)
}

export const notTheService = (baseUrl: string, status = 200) =>
  new Problem(
    'not_the_service',
    `What answers at ${baseUrl} is not the service (status ${status}).`,
    'Check the address, and whether a proxy or login page answers instead: SERVICE_BASE_URL.',
  )

export function unreachable(baseUrl: string, { code, message }: ExchangeError): Problem {
  const reasons: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'the connection was refused',
    ECONNRESET: 'the connection was interrupted',
    EPIPE: 'the connection was interrupted',
    ENOTFOUND: 'the name does not resolve',
    EAI_AGAIN: 'the name does not resolve',
    EHOSTUNREACH: 'the host is unreachable',
    ENETUNREACH: 'the host is unreachable',
    ETIMEDOUT: 'the connection timed out',
    timeout: 'there was no response in time',
  }
  const isTls = /CERT|SIGNED|UNABLE_TO_|SSL|TLS|EPROTO/.test(code)
  const reason = isTls
    ? `its TLS certificate is not accepted (${code})`
    : (reasons[code] ?? message)
  return new Problem(
    'unreachable',
    `${baseUrl} cannot be reached: ${plainText(reason)}.`,
    isTls ? 'If you use your own CA: export NODE_EXTRA_CA_CERTS=/path/to/ca.pem' : '',
    code === 'unreachable' || reasons[code] !== undefined
      ? 'Check the network, and HTTPS_PROXY if there is an egress proxy.'
      : '',
  )
}
