/**
 * The middleware as an edited file will have it: found from that file's folder, loaded, and a guard
 * made of it, in a process that opens no port, reaches nobody, and writes nothing. Of the application
 * nothing runs: nobody can know what its code does when it is loaded.
 */
import { PACKAGE } from '../edits/import-line.ts'
import { objectIn } from '../json.ts'
import { plainText } from '../terminal/words.ts'
import type { AddedImports } from './added-imports.ts'
import { runNode, type Environment } from './node-child.ts'

interface LoadWish {
  /** Of the file: absolute. */
  readonly folder: string
  readonly imports: NonNullable<AddedImports['ours']>
  /** What the code names when nothing is set. */
  readonly baseUrl: string
  readonly tenantId: string | null
  /** Absolute; null: keys are fetched when the application starts. */
  readonly keyFile: string | null
  readonly environment: Environment
}

/** What watches every Node.js of a machine may not stand such a process: that says nothing. */
export const UNKNOWN = Symbol('unknown')

/** Why it would not load; null: it does. */
export async function loadFault(wish: LoadWish): Promise<string | null | typeof UNKNOWN> {
  const { folder, keyFile, baseUrl, tenantId } = wish
  const environment = {
    ...wish.environment,
    SERVICE_BASE_URL: wish.environment['SERVICE_BASE_URL'] || baseUrl,
    SERVICE_TENANT_ID: wish.environment['SERVICE_TENANT_ID'] || (tenantId ?? 'tenant'),
    // whether it is set where the application starts is not seen from here
    SERVICE_CLIENT_SECRET: wish.environment['SERVICE_CLIENT_SECRET'] || 'dry-run',
    ...(keyFile !== null && { SERVICE_PUBLIC_KEY_FILE: keyFile }),
  }
  const code = programFor(wish)
  const args = [...confined(), '--input-type=commonjs', '--eval', code]
  const { code: ended, out } = await runNode({ args, folder, environment })
  const answer = objectIn(out.split('\n').findLast((line) => line.startsWith('{"fault"')) ?? null)
  if (answer === null) return ended === 0 ? `${PACKAGE} ends the process that loads it` : UNKNOWN
  const fault = plainText(answer['fault'])
  return fault === '' ? null : fault
}

/** It reads files, and does nothing else. */
function confined(): string[] {
  const flag = ['--permission', '--experimental-permission'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  )
  return flag === undefined ? [] : [flag, '--allow-fs-read=*']
}

const TAKE_NOTHING = ['express', 'nest', 'koa', 'fastify', 'hono']

/** Bare names are looked for from the folder that this is started in, as that of a file in it. */
function programFor({ imports: { isRequired, names, adapters }, keyFile }: LoadWish): string {
  const given = JSON.stringify({ names, adapters, isKeyThere: keyFile !== null, TAKE_NOTHING })
  return `
const { names, adapters, isKeyThere, TAKE_NOTHING } = ${given}
const closed = () => { throw new Error('nothing is opened in a dry run') }
const net = require('node:net')
net.Server.prototype.listen = closed
net.Socket.prototype.connect = closed
require('node:dgram').Socket.prototype.bind = closed
globalThis.fetch = async () => closed()
const end = (fault) => process.stdout.write('\\n' + JSON.stringify({ fault }) + '\\n', () => process.exit(0))
const load = async () => {
  const given = ${isRequired ? `require('${PACKAGE}')` : `await import('${PACKAGE}')`}
  for (const name of names)
    if (given[name] === undefined) throw new Error('${PACKAGE} has no ' + name)
  for (const guard of names.filter((name) => name === 'verifyClaims' || name === 'enforce')) {
    const service = given[guard]()
    for (const adapter of adapters) {
      if (typeof service[adapter] !== 'function') throw new Error('${PACKAGE} has no ' + adapter + '()')
      if (TAKE_NOTHING.includes(adapter)) service[adapter]()
    }
    if (isKeyThere && guard === 'verifyClaims') await service.ready()
  }
}
load().then(() => end(''), (error) => end(String(error?.message || error).split('\\n')[0]))
`
}
