/** Where JavaScript snippets run: the frameworks themselves, and the package as npm has installed it. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from '../../support/control-plane.ts'
import { installSdk } from '../../support/installed-sdk.ts'
import type { Host } from './application.ts'

const ROOT = new URL('../../../', import.meta.url).pathname

/** What Nest's command line tool does with a project. */
const COMPILE =
  'node_modules/typescript/bin/tsc src/main.ts --noCheck --module esnext --target es2023 --types node --experimentalDecorators --emitDecoratorMetadata --outDir .'

/** The one route of an application on Next.js. */
const ROUTE = `export function GET(request) {
  const token = request.headers.get('x-service-claims')
  const name = token && JSON.parse(Buffer.from(token.split('.')[1], 'base64url')).name
  return new Response(\`Hello \${name ?? 'stranger'}\\n\`)
}
`

export async function javascriptHosts(t: Test) {
  const { folder } = await installSdk(t)
  const sdk = join(folder, 'node_modules', 'service-node')
  const link = `mkdir node_modules && ln -s ${ROOT}node_modules/* node_modules && cp -r ${sdk} node_modules`
  const node: Host = {
    missing: false,
    build: ['/bin/sh', '-ec', link],
    start: [process.execPath, 'server.mjs'],
  }
  const nest: Host = {
    ...node,
    build: ['/bin/sh', '-ec', `${link} && ${process.execPath} ${COMPILE} && mv main.js main.mjs`],
    start: [process.execPath, 'main.mjs'],
  }
  return {
    node,
    express: node,
    fastify: node,
    koa: node,
    hono: node,
    nest,
    next: () => nextHost(t, sdk),
  }
}

/** It weighs 340 MB, too much for everybody's `npm ci`: fetched here, where npm can be reached. */
function nextHost(t: Test, sdk: string): Host {
  const folder = temporaryFolder(t)
  const packages = ['next@16', 'react@19', 'react-dom@19']
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1']
  try {
    const options = { cwd: folder, timeout: 120_000, stdio: 'pipe' } as const
    execFileSync('npm', ['install', '--prefix', folder, ...quiet, ...packages], options)
  } catch (error) {
    const said = String((error as { stderr?: Buffer }).stderr)
    const reason = /^npm error (?!A complete log).+/m.exec(said)?.[0] ?? 'it took too long'
    return { missing: `Next.js cannot be fetched from npm: ${reason}`, start: [] }
  }
  const copy = `cp -al ${folder}/node_modules . && cp -r ${sdk} node_modules`
  const build = `NEXT_TELEMETRY_DISABLED=1 ${process.execPath} node_modules/next/dist/bin/next build`
  return {
    missing: false,
    files: { 'app/route.js': ROUTE, 'package.json': '{ "private": true }' },
    build: ['/bin/sh', '-ec', `${copy} && ${build}`],
    start: [process.execPath, 'server.mjs'],
  }
}
