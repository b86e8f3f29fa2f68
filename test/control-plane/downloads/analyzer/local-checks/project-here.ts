/** A project of a few files, checked as the command line tool checks it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import type { Application } from '../../../../../control-plane/downloads/analyzer/detection/application.ts'
import { createGit } from '../../../../../control-plane/downloads/analyzer/journal/git.ts'
import type {
  LocalChecksWorld,
  TenantFacts,
} from '../../../../../control-plane/downloads/analyzer/local-checks/looked-at.ts'
import { runLocalChecks } from '../../../../../control-plane/downloads/analyzer/local-checks/run-local-checks.ts'
import { openProject } from '../../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'

interface Teardown {
  teardown(work: () => unknown): void
}

export const BASE_URL = 'https://service.example.test'
export const KEY_PATH = '/tenants/acme/public-key'

export function applicationOf(more: Partial<Application> = {}): Application {
  return {
    folder: '',
    framework: 'express',
    variant: null,
    language: 'javascript',
    packageManager: 'npm',
    modules: 'esm',
    entry: null,
    mount: null,
    healthPath: '/health',
    port: null,
    signIn: [],
    integrated: null,
    confidence: 'sure',
    findings: [],
    ...more,
  }
}

export const TENANT: TenantFacts = {
  tenant_id: 'acme',
  mode: 'gateway',
  protection: 'pass-through',
  health: '/health',
  sealed: [],
}

export type Files = Readonly<Record<string, string>>

export function write(root: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

export function folderWith(t: Teardown, files: Files): string {
  const root = temporaryFolder(t)
  write(root, files)
  return root
}

export interface Wish {
  readonly application?: Partial<Application>
  readonly tenant?: Partial<TenantFacts>
  readonly world?: Partial<LocalChecksWorld>
}

const UNREACHABLE = (() => Promise.reject(new TypeError('fetch failed'))) as typeof fetch

export async function checkAll(root: string, wish: Wish = {}) {
  const { application = {}, tenant = {}, world = {} } = wish
  const project = await openProject(root)
  const checks = await runLocalChecks(project, applicationOf(application), {
    baseUrl: BASE_URL,
    tenant: { ...TENANT, ...tenant },
    secrets: [],
    environment: {},
    port: null,
    fetch: UNREACHABLE,
    git: createGit(process.env),
    ...world,
  })
  const of = (name: string) => {
    const found = checks.find(({ check }) => check === name)
    if (found === undefined) throw new Error(`there is no check ${name}`)
    return found
  }
  return { checks, of }
}

export async function check(t: Teardown, name: string, files: Files, wish: Wish = {}) {
  return (await checkAll(folderWith(t, files), wish)).of(name)
}

/** The application itself, on a port of this machine. */
export async function listenHere(t: Teardown, answer: RequestListener): Promise<number> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
