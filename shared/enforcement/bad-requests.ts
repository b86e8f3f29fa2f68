/** What is wrong with whom a request is for, in the same codes at the edge and in the middleware. */
const bad = (status: number, code: string, detail: string) => ({ status, code, detail })

export const BAD_REQUESTS = {
  host: bad(400, 'bad_host', 'Exactly one valid Host header is required.'),
  hostMismatch: bad(400, 'host_mismatch', 'The request target and the Host header disagree.'),
  target: bad(400, 'bad_target', 'The request target is not valid.'),
  targetTooLong: bad(414, 'target_too_long', 'The request target is too long.'),
  method: bad(405, 'method_not_allowed', 'This HTTP method is not allowed.'),
} as const
export type BadRequest = keyof typeof BAD_REQUESTS
