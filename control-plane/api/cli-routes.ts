/** The command line tool, and the script that installs it. Neither is kept by anybody in between. */
import { VERSION } from '../../shared/version.ts'
import { createAnalyzerDownloads } from '../downloads/analyzer/program-download.ts'
import { sendTarball, TARBALL_TYPE } from './download-routes.ts'
import { endpointsOf, file, nothing } from './endpoint.ts'
import type { SendLarge } from '../http/large-answers.ts'

const anyone = endpointsOf('integration', 'anyone')

export interface CliEndpointsWorld {
  readonly baseUrl: string
}

const SCRIPT_TYPE = 'text/x-shellscript'
const PROGRAM_TYPE = 'text/javascript'

export function cliEndpoints({ baseUrl }: CliEndpointsWorld, sendLarge: SendLarge) {
  const downloads = createAnalyzerDownloads(baseUrl)
  return [
    anyone.get('/api/v1/cli/install', {
      summary: 'A shell script that installs `service-analyzer`: pipe it to `sh`.',
      description:
        'It verifies the SHA-256 of the download, then installs into `${SERVICE_INSTALL_DIR:-$HOME/.local/bin}`. Set `SERVICE_BASE_URL` to use another address of this service. `| sh -s -- uninstall` removes it. Then, in the folder of your application: `service-analyzer setup`.',
      answers: { 200: file(SCRIPT_TYPE, 'A POSIX shell script.') },
      handle: async (c) => {
        const { bytes } = await downloads.installer()
        return c.body(new Uint8Array(bytes), 200, {
          'Content-Type': `${SCRIPT_TYPE}; charset=utf-8`,
        })
      },
    }),
    anyone.get('/api/v1/cli/service-analyzer.mjs', {
      summary: 'The command-line tool: a single file for Node 20 and later.',
      answers: { 200: file(PROGRAM_TYPE, 'The program.') },
      handle: async (c) => {
        const { bytes } = await downloads.program()
        return sendLarge(c, bytes, { 'Content-Type': `${PROGRAM_TYPE}; charset=utf-8` })
      },
    }),
    anyone.get('/api/v1/cli/node', {
      summary: 'The same tool as an npm package: pass this URL to `npm install`.',
      headers: { 'If-None-Match': 'The ETag you received last.' },
      answers: {
        200: {
          ...file(TARBALL_TYPE, 'The npm package `service-analyzer`.'),
          headers: { ETag: 'Stays the same for each version.' },
        },
        304: nothing('Not modified.'),
      },
      handle: async (c) =>
        sendTarball(c, await downloads.package(), `service-analyzer-${VERSION}.tgz`, sendLarge),
    }),
  ]
}
