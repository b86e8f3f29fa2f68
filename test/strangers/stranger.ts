/** One public application: fetched, looked at, changed, and put back as it was. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as tar from 'tar'
import type { Application } from '../../control-plane/downloads/analyzer/detection/application.ts'
import { detect } from '../../control-plane/downloads/analyzer/detection/detect.ts'
import { planFor } from '../../control-plane/downloads/analyzer/edits/plan-for.ts'
import type { Wishes } from '../../control-plane/downloads/analyzer/edits/wishes.ts'
import type { Plan } from '../../control-plane/downloads/analyzer/plan.ts'
import { openProject } from '../../control-plane/downloads/analyzer/project/open-project.ts'
import type { Stranger } from './strangers.ts'

const run = promisify(execFile)

/** The largest that is pinned has a quarter of it. */
const ARCHIVE_BYTES_MAX = 32 * 1024 * 1024

const FETCH_MS_MAX = 300_000

/**
 * By npm, so that whatever mirror this machine uses is asked; its bytes are the pinned ones. In one
 * call, since npm takes longer to start than to fetch one: where one cannot be fetched, none is.
 */
export async function fetchStrangers(
  strangers: readonly Stranger[],
  folder: string,
): Promise<string[]> {
  const names = strangers.map(({ name, version }) => `${name}@${version}`)
  const options = ['--pack-destination', folder, '--loglevel=error', '--ignore-scripts']
  await run('npm', ['pack', ...names, ...options], { timeout: FETCH_MS_MAX })
  return strangers.map((one) => pinned(one, folder))
}

export async function fetchStranger(stranger: Stranger, folder: string): Promise<string> {
  await fetchStrangers([stranger], folder)
  return pathIn(folder, stranger)
}

const pathIn = (folder: string, { name, version }: Stranger) =>
  join(folder, `${name.replace('/', '-').replace('@', '')}-${version}.tgz`)

function pinned(stranger: Stranger, folder: string): string {
  const { name, version, integrity } = stranger
  const kept = pathIn(folder, stranger)
  const { size } = statSync(kept)
  if (size > ARCHIVE_BYTES_MAX) throw new Error(`${name}@${version} has ${size} bytes`)
  const hash = createHash('sha512').update(readFileSync(kept)).digest('base64')
  if (`sha512-${hash}` !== integrity) throw new Error(`${name}@${version} is not what was pinned`)
  return kept
}

/** Without npm there is nothing to look at; another archive than the pinned one is a failure. */
export function missingOf(error: unknown): { readonly missing: string } {
  const { stderr, message } = error as { stderr?: string; message: string }
  if (stderr === undefined) throw error
  return { missing: `cannot be fetched from npm: ${(stderr || message).split('\n')[0]}` }
}

/** Files and folders only: a link of a stranger's may lead anywhere. */
export async function unpack(tarball: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await tar.extract({
    file: tarball,
    cwd: folder,
    strip: 1,
    preserveOwner: false,
    filter: (_, entry) => !('type' in entry) || /^(?:File|OldFile|Directory)$/.test(entry.type),
  })
}

export interface Looked {
  readonly application: Application
  readonly plan: Plan
}

/** What is found in it, and what would be done. */
export async function lookAt(folder: string, wishes: Wishes): Promise<Looked[]> {
  const project = await openProject(folder)
  const { applications } = await detect(project)
  const plans = applications.map(async (application) => ({
    application,
    plan: await planFor(project, application, wishes),
  }))
  return Promise.all(plans)
}

/** Node's own reading of every file that was changed, or TypeScript's. */
export async function faultsOf(folder: string, { edits }: Plan): Promise<string[]> {
  const faults: string[] = []
  for (const { path } of edits) {
    const text = readFileSync(join(folder, path), 'utf8')
    if (path.endsWith('.json')) JSON.parse(text)
    else if (/\.[cm]?js$/.test(path)) {
      const said = await run(process.execPath, ['--check', join(folder, path)]).then(
        () => '',
        (error: unknown) => String((error as { stderr?: string }).stderr),
      )
      if (said !== '') faults.push(`${path}: ${said}`)
    }
  }
  return faults
}

export function copyOf(folder: string, to: string): string {
  cpSync(folder, to, { recursive: true, verbatimSymlinks: true })
  return to
}
