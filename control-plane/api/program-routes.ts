/** A program of ours, three ways: by a script, as one file, as a package. */
import { VERSION } from '../../shared/version.ts'
import type { ProgramDownloads } from '../downloads/bundling/program-download.ts'
import type { SendLarge } from '../http/large-answers.ts'
import { sendTarball, TARBALL_TYPE } from './download-routes.ts'
import { endpointsOf, file, nothing, type Endpoint } from './endpoint.ts'

interface ProgramRoutes {
  readonly group: 'integration' | 'connector'
  readonly path: '/api/v1/cli' | '/api/v1/connector'
  readonly name: string
  /** "The command-line tool", as a sentence begins with it. */
  readonly called: string
  /** What to do once it is installed. */
  readonly next: string
  readonly downloads: ProgramDownloads
  readonly sendLarge: SendLarge
}

const SCRIPT_TYPE = 'text/x-shellscript'
const PROGRAM_TYPE = 'text/javascript'

/** None is kept by anybody in between, but the package by its ETag. */
export function programEndpoints(routes: ProgramRoutes): readonly Endpoint[] {
  const { group, path, name, called, next, downloads, sendLarge } = routes
  const anyone = endpointsOf(group, 'anyone')
  return [
    anyone.get(`${path}/install`, {
      summary: `A shell script that installs \`${name}\`: pipe it to \`sh\`.`,
      description: `It verifies the SHA-256 of the download, then installs into \`\${SERVICE_INSTALL_DIR:-$HOME/.local/bin}\`. Set \`SERVICE_BASE_URL\` to use another address of this service. \`| sh -s -- uninstall\` removes it. ${next}`,
      answers: { 200: file(SCRIPT_TYPE, 'A POSIX shell script.') },
      handle: async (c) => {
        const { bytes } = await downloads.installer()
        return c.body(new Uint8Array(bytes), 200, {
          'Content-Type': `${SCRIPT_TYPE}; charset=utf-8`,
        })
      },
    }),
    anyone.get(`${path}/${name}.mjs`, {
      summary: `${called}: a single file for Node 20 and later.`,
      answers: { 200: file(PROGRAM_TYPE, 'The program.') },
      handle: async (c) => {
        const { bytes } = await downloads.program()
        return sendLarge(c, bytes, { 'Content-Type': `${PROGRAM_TYPE}; charset=utf-8` })
      },
    }),
    anyone.get(`${path}/node`, {
      summary: `${called} as an npm package: pass this URL to \`npm install\`.`,
      headers: { 'If-None-Match': 'The ETag you received last.' },
      answers: {
        200: {
          ...file(TARBALL_TYPE, `The npm package \`${name}\`.`),
          headers: { ETag: 'Stays the same for each version.' },
        },
        304: nothing('Not modified.'),
      },
      handle: async (c) =>
        sendTarball(c, await downloads.package(), `${name}-${VERSION}.tgz`, sendLarge),
    }),
  ]
}
