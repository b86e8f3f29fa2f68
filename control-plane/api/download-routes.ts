/** What a customer's machine fetches from here: packages, made when they are first asked for. */
import { VERSION } from '../../shared/version.ts'
import type { Download } from '../downloads/bundling/made-once.ts'
import { sdkTarball } from '../downloads/sdk-node/tarball.ts'
import { isNoneMatch } from '../feed/poll-headers.ts'
import type { ApiContext } from '../http/context.ts'
import { endpointsOf, file, nothing, type Endpoint } from './endpoint.ts'
import type { SendLarge } from '../http/large-answers.ts'

const anyone = endpointsOf('integration', 'anyone')

export const TARBALL_TYPE = 'application/gzip'

export function downloadEndpoints(sendLarge: SendLarge): readonly Endpoint[] {
  return [
    anyone.get('/api/v1/sdk/node', {
      summary: 'The Node.js middleware: pass this URL to `npm install`.',
      headers: { 'If-None-Match': 'The ETag you received last.' },
      answers: {
        200: {
          ...file(TARBALL_TYPE, 'The npm package `service-node`, in the version of this service.'),
          headers: { ETag: 'Stays the same for each version.' },
        },
        304: nothing('Not modified.'),
      },
      handle: async (c) =>
        sendTarball(c, await sdkTarball(), `service-node-${VERSION}.tgz`, sendLarge),
    }),
  ]
}

/** May be kept, and is asked for again each time: the same address holds the next version. */
export async function sendTarball(
  c: ApiContext,
  { bytes, etag }: Download,
  filename: string,
  sendLarge: SendLarge,
): Promise<Response> {
  const headers = { ETag: etag, 'Cache-Control': 'no-cache' }
  if (isNoneMatch(c.req.header('if-none-match'), etag)) return c.body(null, 304, headers)
  return sendLarge(c, bytes, {
    ...headers,
    'Content-Type': TARBALL_TYPE,
    'Content-Disposition': `attachment; filename="${filename}"`,
  })
}
