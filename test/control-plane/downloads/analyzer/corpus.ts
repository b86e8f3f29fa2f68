/**
 * A project of test/fixtures/projects through its whole story: planned, written, started with the real
 * frameworks and the real package, asked, planned again, and taken back.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Test } from 'tap'
import { detectNode } from '../../../../control-plane/downloads/analyzer/detection/node/detect-node.ts'
import type { Application } from '../../../../control-plane/downloads/analyzer/detection/application.ts'
import { planFor } from '../../../../control-plane/downloads/analyzer/edits/plan-for.ts'
import type { FileEdit, Plan } from '../../../../control-plane/downloads/analyzer/plan.ts'
import { openProject } from '../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { issuerOf, keyOfTheService } from '../../../shared/snippets/application.ts'
import { treeOf, undoPlan, writePlan } from '../../../support/applied.ts'
import { boot, smokeProblems, type Booted } from '../../../support/booted.ts'
import { freePort } from '../../../support/ports.ts'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const FIXTURES = join(ROOT, 'test', 'fixtures')
/** Nobody listens there: the application has to do with the key that lies beside it. */
const BASE_URL = 'http://127.0.0.1:9'
const SDK_URL = `${BASE_URL}/api/v1/sdk/node`

interface Bundle {
  readonly bundle: string
  readonly out: string
  readonly format: 'cjs' | 'esm'
}

export interface BootNote {
  /** Where it is started, from the project's root. */
  readonly folder: string
  readonly build: Bundle | { readonly command: readonly string[] } | null
  readonly before?: readonly Bundle[]
  readonly command: readonly string[]
  readonly path: string
  /** The variable that tells it its port. */
  readonly port: string
  /** Packages of the workspace, and where they are. */
  readonly links?: Readonly<Record<string, string>>
}

export interface Fixture {
  readonly name: string
  readonly boots: readonly BootNote[]
}

export function nodeFixtures(): Fixture[] {
  return readdirSync(join(FIXTURES, 'expectations')).flatMap((file) => {
    const text = readFileSync(join(FIXTURES, 'expectations', file), 'utf8')
    const { boot } = JSON.parse(text) as { boot?: readonly BootNote[] }
    return boot === undefined ? [] : [{ name: file.replace(/\.json$/, ''), boots: boot }]
  })
}

export const isNext = ({ build }: BootNote) => build !== null && 'command' in build

/** What is beside the project: packages, as an installation would have put them there. */
export interface Packages {
  /** `service-node` as npm has installed it. */
  readonly sdk: string
  /** A folder of packages to be copied; otherwise those of this repository are linked. */
  readonly copied?: string
}

export interface Story {
  readonly plans: readonly Plan[]
  readonly applications: readonly Application[]
  /** Starts one of its programs as it is now; `null`: there is none of that name. */
  start(t: Test, note: BootNote): Promise<Booted>
  /** What of the smallest conformance does not hold. */
  smoke(booted: Booted, note: BootNote): Promise<string[]>
  readonly by: Awaited<ReturnType<typeof issuer>>
}

const issuer = async () => issuerOf(BASE_URL, await keyOfTheService())

export function temporary(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'corpus-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Written; the tests of the story are the caller's. At its end everything is taken back. */
export async function tellStory(
  t: Test,
  { name }: Fixture,
  packages: Packages,
  told: (story: Story) => Promise<void>,
): Promise<void> {
  const folder = temporary(t)
  cpSync(join(FIXTURES, 'projects', name), folder, { recursive: true, verbatimSymlinks: true })
  const before = treeOf(folder)
  const by = await issuer()
  const wishes = {
    mode: 'gateway',
    baseUrl: BASE_URL,
    tenantId: 'acme',
    publicKeyPem: by.pem,
    sdkUrl: SDK_URL,
  } as const
  const look = async () => {
    const project = await openProject(folder)
    const { applications } = await detectNode(project)
    const plans = await Promise.all(
      applications.map((one) => planFor(project, one, wishes, applications)),
    )
    return { applications, plans }
  }
  const { applications, plans } = await look()
  await writePlan(folder, { ...(plans[0] as Plan), edits: merged(plans) }, SDK_URL)

  await told({
    plans,
    applications,
    by,
    async start(t, note) {
      const copy = temporary(t)
      cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
      install(copy, note, packages)
      await compile(copy, note)
      const port = await freePort()
      const environment = {
        ...(await otherPorts(note)),
        [note.port]: String(port),
        SERVICE_BASE_URL: BASE_URL,
        SERVICE_TENANT_ID: 'acme',
        NEXT_TELEMETRY_DISABLED: '1',
      }
      const [program = '', ...args] = note.command
      const command = [program === 'node' ? process.execPath : program, ...args]
      return boot(t, { command, folder: join(copy, note.folder), environment, port })
    },
    smoke: (booted, note) => smokeProblems(booted.origin, note.path, by),
  })

  const again = await look()
  t.same(merged(again.plans), [], 'a second time nothing is edited')
  t.same(
    again.plans.flatMap(({ manual }) => manual.map(({ path }) => path)),
    plans.flatMap(({ manual }) => manual.map(({ path }) => path)),
    'what a person has to do is what it was',
  )
  await undoPlan(folder)
  t.same(treeOf(folder), before, 'after undo it is as it was, byte for byte')
}

/** Several applications of one project share a package.json and a key. */
function merged(plans: readonly Plan[]): FileEdit[] {
  const byPath = new Map<string, FileEdit>()
  for (const edit of plans.flatMap(({ edits }) => edits)) {
    const there = byPath.get(edit.path)
    if (there !== undefined && there.after !== edit.after)
      throw new Error(`${edit.path} would be written in two ways`)
    byPath.set(edit.path, edit)
  }
  return [...byPath.values()]
}

/** A program that listens twice gets another port for the other one. */
async function otherPorts({ port }: BootNote): Promise<Record<string, string>> {
  const names = ['PORT', 'STAFF_PORT'].filter((name) => name !== port)
  const ports = await Promise.all(names.map(async (name) => [name, String(await freePort())]))
  return Object.fromEntries(ports) as Record<string, string>
}

function install(folder: string, note: BootNote, { sdk, copied }: Packages): void {
  const { links = {} } = note
  // what Next.js builds with has to be inside, and beside the application
  const modules = join(folder, copied === undefined ? '' : note.folder, 'node_modules')
  if (copied !== undefined) execFileSync('cp', ['-al', copied, modules])
  else {
    mkdirSync(modules)
    for (const name of readdirSync(join(ROOT, 'node_modules')))
      if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  cpSync(sdk, join(modules, 'service-node'), { recursive: true })
  for (const [name, path] of Object.entries(links)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(folder, path), join(modules, name))
  }
}

async function compile(folder: string, { folder: at, build: how, before = [] }: BootNote) {
  const cwd = join(folder, at)
  const bundles = how !== null && 'bundle' in how ? [...before, how] : before
  for (const { bundle, out, format } of bundles)
    await build({
      absWorkingDir: cwd,
      entryPoints: [bundle],
      outfile: join(cwd, out),
      bundle: true,
      packages: 'external',
      platform: 'node',
      format,
      logLevel: 'silent',
    })
  if (how === null || !('command' in how)) return
  const [program = '', ...args] = how.command
  const file = program === 'node' ? process.execPath : program
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }
  execFileSync(file, args, { cwd, env, stdio: 'pipe', timeout: 200_000 })
}
