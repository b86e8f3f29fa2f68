/** One of them with its packages from npm, changed, started, asked, and taken back. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { issuerOf, keyOfTheService } from '../shared/snippets/application.ts'
import { treeOf, undoPlan, writePlan } from '../support/applied.ts'
import { boot, smokeProblems } from '../support/booted.ts'
import { freePort } from '../support/ports.ts'
import type { Boot } from './boots.ts'
import { faultsOf, lookAt, unpack } from './stranger.ts'

const run = promisify(execFile)

interface Teardown {
  teardown(work: () => unknown): void
}

/** What npm leaves beside a project. */
const OF_NPM = ['node_modules', 'package-lock.json']

/** What does not hold of it; `sdkUrl`: where npm gets the package from, for real. */
export async function problemsOf(
  t: Teardown,
  how: Boot,
  tarball: string,
  folder: string,
  sdkUrl: string,
): Promise<string[]> {
  const project = join(folder, 'project')
  const data = join(folder, 'data')
  await unpack(tarball, project)
  mkdirSync(data)
  for (const [path, text] of Object.entries(how.files ?? {})) {
    mkdirSync(dirname(join(data, path)), { recursive: true })
    writeFileSync(join(data, path), text)
  }
  const before = treeOf(project, OF_NPM)
  const baseUrl = 'http://127.0.0.1:9'
  const by = issuerOf(baseUrl, await keyOfTheService())
  const wishes = {
    mode: 'gateway',
    baseUrl,
    tenantId: 'acme',
    publicKeyPem: by.pem,
    sdkUrl,
  } as const
  const [looked] = await lookAt(project, wishes)
  if (looked === undefined) return ['nothing was found']
  await writePlan(project, looked.plan, sdkUrl)
  const problems = await faultsOf(project, looked.plan)

  const quiet = [
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--omit=dev',
    '--legacy-peer-deps',
    '--loglevel=error',
  ]
  await run('npm', ['install', ...quiet], { cwd: project, timeout: 200_000 })
  const port = await freePort()
  const booted = await boot(t, {
    command: [process.execPath, ...how.command(port, data)],
    folder: project,
    environment: { SERVICE_BASE_URL: baseUrl, SERVICE_TENANT_ID: 'acme', CI: '1' },
    port,
  })
  problems.push(...(await smokeProblems(booted.origin, how.path, by)))
  await booted.stop()

  const again = (await lookAt(project, wishes)).flatMap(({ plan }) => plan.edits)
  problems.push(...again.map(({ path }) => `${path} would be edited a second time`))
  await undoPlan(project)
  // a program may have written files of its own where it was started
  const after = treeOf(project, OF_NPM)
  problems.push(...before.filter((line) => !after.includes(line)).map((line) => `changed: ${line}`))
  problems.push(...after.filter((line) => /^(?:\.service|service_public)/.test(line)))
  return problems
}
