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
      summary: 'A shell script that installs `service-analyzer`: pipe it into `sh`.',
      description:
        'It checks the SHA-256 of what it downloads before it installs anything, into `${SERVICE_INSTALL_DIR:-$HOME/.local/bin}`. `SERVICE_BASE_URL` names another address of the same service. `| sh -s -- uninstall` removes it.',
      answers: { 200: file(SCRIPT_TYPE, 'A POSIX shell script.') },
      handle: async (c) => {
        const { bytes } = await downloads.installer()
        return c.body(new Uint8Array(bytes), 200, {
          'Content-Type': `${SCRIPT_TYPE}; charset=utf-8`,
        })
      },
    }),
    anyone.get('/api/v1/cli/service-analyzer.mjs', {
      summary: 'The command line tool: one file for Node 20 and later.',
      answers: { 200: file(PROGRAM_TYPE, 'What the script installs.') },
      handle: async (c) => {
        const { bytes } = await downloads.program()
        return sendLarge(c, bytes, { 'Content-Type': `${PROGRAM_TYPE}; charset=utf-8` })
      },
    }),
    anyone.get('/api/v1/cli/node', {
      summary: 'The same tool as an npm package: `npm install` takes this very address.',
      headers: { 'If-None-Match': 'The last ETag received.' },
      answers: {
        200: {
          ...file(TARBALL_TYPE, 'The npm package `service-analyzer`, with the program in it.'),
          headers: { ETag: 'Of these bytes: the same as long as the version is.' },
        },
        304: nothing('Nothing has changed.'),
      },
      handle: async (c) =>
        sendTarball(c, await downloads.package(), `service-analyzer-${VERSION}.tgz`, sendLarge),
    }),
  ]
}
