/** The package `service-node` as a customer has it: fetched by npm from a running control plane. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { getRequestListener } from '@hono/node-server'
import type { Test } from 'tap'
import { startApi } from './api.ts'

/** Inside the project, so that what is installed there finds the project's frameworks. */
const ROOT = new URL('../../', import.meta.url).pathname

const run = promisify(execFile)

export async function installSdk(t: Test) {
  const { app } = await startApi(t)
  const listener = getRequestListener((request, env) => app.fetch(request, env), {
    overrideGlobalObjects: false,
  })
  const server: Server = createServer((request, response) => void listener(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/sdk/node`
  const folder = mkdtempSync(join(ROOT, 'node_modules', '.sdk-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  await run('npm', ['install', ...quiet, url], { cwd: folder })
  return { folder, url }
}

let nodes: ReadonlyMap<number, string> | undefined

/** Programs called `node` on the path, by major version; the one that runs the tests is among them. */
export const nodesHere = () => (nodes ??= findNodes())

function findNodes(): ReadonlyMap<number, string> {
  const found = execFileSync('which', ['-a', 'node'], { encoding: 'utf8' }).trim().split('\n')
  const versionOf = (path: string) =>
    Number(execFileSync(path, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' }))
  return new Map([process.execPath, ...found].map((path) => [versionOf(path), path]))
}
