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
  framing: refusal(400, 'bad_framing', 'The length of the request body is ambiguous.'),
  body: refusal(400, 'bad_body', 'The request body is not valid chunked encoding.'),
  connection: refusal(400, 'bad_connection', 'The Connection header is invalid.'),
  headTimeout: refusal(408, 'head_timeout', 'The request took too long to arrive.'),
  bodyTimeout: refusal(408, 'body_timeout', 'The request body stopped arriving.'),
  expectation: refusal(
    417,
    'expectation_failed',
    'The only supported Expect value is 100-continue.',
  ),
  misdirected: refusal(421, 'misdirected', 'This connection was opened for a different host.'),
  headTooLarge: refusal(431, 'head_too_large', 'The request headers are too large.'),
  tooManyFields: refusal(431, 'too_many_headers', 'The request has too many headers.'),
  internal: refusal(500, 'internal_error', 'Something went wrong on our side. Try again.'),
  methodUnknown: refusal(501, 'method_unknown', 'This HTTP method is not supported.'),
  protocolUnknown: refusal(501, 'protocol_unknown', 'The only supported protocol is websocket.'),
  coding: refusal(501, 'coding_unknown', 'The only supported transfer encoding is chunked.'),
  version: refusal(505, 'version_not_supported', 'Only HTTP/1.0 and HTTP/1.1 are supported.'),
} as const satisfies Record<string, Refusal>
