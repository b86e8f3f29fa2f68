/** What the wire answers by itself, before there is a request that anybody could decide on. */
import { BAD_REQUESTS } from '../../shared/enforcement/bad-requests.ts'

export interface Refusal {
  readonly status: number
  readonly code: string
  readonly detail: string
}

const refusal = (status: number, code: string, detail: string): Refusal => ({
  status,
  code,
  detail,
})

export const REFUSALS = {
  ...BAD_REQUESTS,
  malformed: refusal(400, 'bad_request', 'The request is not valid HTTP.'),
  framing: refusal(400, 'bad_framing', 'The length of the request body is not clear.'),
  body: refusal(400, 'bad_body', 'The request body is not valid chunked coding.'),
  connection: refusal(400, 'bad_connection', 'The Connection header is not valid.'),
  headTimeout: refusal(408, 'head_timeout', 'The request took too long to arrive.'),
  bodyTimeout: refusal(408, 'body_timeout', 'The request body stopped arriving.'),
  expectation: refusal(417, 'expectation_failed', 'Only 100-continue can be expected here.'),
  misdirected: refusal(421, 'misdirected', 'This connection was made for another host.'),
  headTooLarge: refusal(431, 'head_too_large', 'The request head is too large.'),
  tooManyFields: refusal(431, 'too_many_headers', 'The request has too many headers.'),
  internal: refusal(500, 'internal_error', 'The request could not be handled.'),
  methodUnknown: refusal(501, 'method_unknown', 'This method is not known here.'),
  coding: refusal(501, 'coding_unknown', 'The only transfer coding understood is chunked.'),
  version: refusal(505, 'version_not_supported', 'Only HTTP/1.1 and HTTP/1.0 are spoken here.'),
} as const satisfies Record<string, Refusal>
