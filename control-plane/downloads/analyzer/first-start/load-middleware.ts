/**
 * The middleware as an edited file will have it: found from that file's folder, loaded, and a guard
 * made of it, in a process that reads the project and its packages, opens no port, reaches nobody, and
 * writes nothing. Where Node cannot hold it to that, nothing is loaded. Of the application nothing
 * runs: nobody can know what its code does when it is loaded.
 */
import { PACKAGE } from '../edits/import-line.ts'
import { objectIn } from '../json.ts'
import { plainText } from '../../command-line/words.ts'
import type { AddedImports } from './added-imports.ts'
import { runNode, type Environment } from './node-child.ts'
import { readByLoading } from './read-by-loading.ts'

interface LoadWish {
  /** Of the project: absolute. */
  readonly root: string
  /** Of the file: absolute. */
  readonly folder: string
  readonly imports: NonNullable<AddedImports['ours']>
  /** What the code names when nothing is set. */
  readonly baseUrl: string
  readonly tenantId: string | null
  /** Absolute; null: keys are fetched when the application starts. */
  readonly keyFile: string | null
  readonly environment: Environment
  /** What this Node takes on its command line. */
  readonly nodeFlags?: ReadonlySet<string>
}

/** untold: what watches every Node.js of a machine, say, may not stand such a process. */
type Loaded =
  | { readonly kind: 'loads' }
  | { readonly kind: 'fault'; readonly detail: string }
  | { readonly kind: 'untold'; readonly reason: string }

/** Its settings, and what Node itself starts with on Windows; no secret, and nothing of the shell. */
const PASSED = ['SERVICE_BASE_URL', 'SERVICE_TENANT_ID', 'SERVICE_PUBLIC_KEY_FILE', 'SERVICE_TRUSTED_PROXIES', 'SystemRoot', 'TZ'] // prettier-ignore

export async function loadMiddleware(wish: LoadWish): Promise<Loaded> {
  const { root, folder, keyFile, baseUrl, tenantId } = wish
  const { nodeFlags = process.allowedNodeEnvironmentFlags } = wish
  // its name before 22.13, and since
  const confining = ['--permission', '--experimental-permission'].find((flag) => nodeFlags.has(flag)) // prettier-ignore
  if (confining === undefined)
    return untold('this Node.js cannot confine a process (--permission); 22.13 and later can')
  const passed = Object.fromEntries(PASSED.map((name) => [name, wish.environment[name]]))
  const environment = {
    ...passed,
    SERVICE_BASE_URL: passed['SERVICE_BASE_URL'] || baseUrl,
    SERVICE_TENANT_ID: passed['SERVICE_TENANT_ID'] || (tenantId ?? 'tenant'),
    // whether it is set where the application starts is not seen from here
    SERVICE_CLIENT_SECRET: 'dry-run',
    ...(keyFile !== null && { SERVICE_PUBLIC_KEY_FILE: keyFile }),
  }
  const read = readByLoading(root, folder, environment.SERVICE_PUBLIC_KEY_FILE)
  const args = [confining, ...read.map((path) => `--allow-fs-read=${path}`)]
  const code = ['--input-type=commonjs', '--eval', programFor(wish)]
  const { code: ended, out } = await runNode({ args: [...args, ...code], folder, environment })
  const answer = objectIn(out.split('\n').findLast((line) => line.startsWith('{"fault"')) ?? null)
  if (answer === null && ended === 0)
    return { kind: 'fault', detail: `${PACKAGE} ends the process that loads it` }
  if (answer === null) return untold('the process that loads the middleware did not answer')
  if (answer['isReading'] === true)
    return untold(`${PACKAGE} reads files outside the project, which a dry run does not`)
  const detail = plainText(answer['fault'])
  return detail === '' ? { kind: 'loads' } : { kind: 'fault', detail }
}

const untold = (reason: string) => ({ kind: 'untold', reason }) as const

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
const { Socket } = require('node:dgram')
Object.assign(Socket.prototype, { bind: closed, connect: closed, send: closed })
const dns = require('node:dns')
for (const asks of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype])
  for (const name of Object.getOwnPropertyNames(asks))
    if (/^(lookup|resolve|reverse)/.test(name)) asks[name] = closed
globalThis.fetch = async () => closed()
require('node:module').syncBuiltinESMExports()
const end = (fault, isReading) =>
  process.stdout.write('\\n' + JSON.stringify({ fault, isReading }) + '\\n', () => process.exit(0))
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
load().then(
  () => end('', false),
  (error) => end(String(error?.message || error).split('\\n')[0], error?.permission === 'FileSystemRead'),
)
`
}
