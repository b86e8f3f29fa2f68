/**
 * Next.js: a server of its own is put behind the guard, since it sees the request as it came; without
 * one, `proxy.ts` (Next.js 16 and later) or `middleware.ts` on the Node runtime (15.5 and later).
 */
import type { Application } from '../detection/application.ts'
import { isUnder, under } from '../detection/folders.ts'
import { makingsIn } from '../detection/node/makings.ts'
import type { FileEdit, ManualStep } from '../plan.ts'
import type { Project } from '../project/project.ts'
import type { Source } from '../syntax/parse.ts'
import { mountedFrom, shownStep, wishOf, type Mounted } from './mounted.ts'
import { MOUNTED } from './mounted-frameworks.ts'
import { mountInSource } from './mount-source.ts'
import { sourcesWith, type NodePackage } from './node-sources.ts'
import { guardOf, type Wishes } from './wishes.ts'
import { wrapListeners } from './wrap-listener.ts'

const HOOKS = ['proxy', 'middleware'].flatMap((name) =>
  ['ts', 'js', 'mts', 'mjs', 'tsx', 'jsx'].map((end) => `${name}.${end}`),
)
const CONFIGS = ['js', 'mjs', 'cjs', 'ts', 'mts'].map((end) => `next.config.${end}`)

export async function nextMounting(
  project: Project,
  application: Application,
  wishes: Wishes,
  pack: NodePackage,
): Promise<Mounted> {
  const server = await customServer(project, application, pack)
  if (server !== null) return behindGuard(application, wishes, pack, server)
  const { folder } = application
  const places = [folder, under(folder, 'src')]
  const hook = places
    .flatMap((at) => HOOKS.map((name) => under(at, name)))
    .find((path) => project.has(path))
  if (hook !== undefined) return besideHook(project, application, wishes, hook)
  const problem = await reasonAgainst(project, application)
  if (problem !== null)
    return {
      edits: [],
      manual: [serverStep(application, wishes, problem)],
    }
  return { edits: [newHook(project, application, wishes)], manual: [] }
}

/** There is no line to show: the file is yet to be written. */
function serverStep(application: Application, wishes: Wishes, problem: string): ManualStep {
  const place = application.mount ?? application.entry
  if (place !== null || problem === EXPORTED) return shownStep(application, wishes, place, problem)
  const { code } = shownStep(application, wishes, null, problem, 'app', 'esm')
  return {
    path: under(application.folder, 'server.mjs'),
    line: null,
    text: `Start Next.js by a server of your own, whose listener is behind the guard, and have the start script run it. It was not done for you: ${problem}.`,
    code,
  }
}

/** A program that makes the application by `next({ … })`. */
async function customServer(project: Project, { folder }: Application, { type }: NodePackage) {
  const found = await sourcesWith(project, folder, type, /['"]next['"]/)
  const isOfNext = (source: Source) =>
    makingsIn(source).some(({ framework }) => framework === 'next')
  return found.find(isOfNext) ?? null
}

function behindGuard(
  application: Application,
  wishes: Wishes,
  pack: NodePackage,
  source: Source,
): Mounted {
  const isOfExpress = makingsIn(source).some(
    ({ framework, kind }) => framework === 'express' && kind === 'application',
  )
  const mounting = isOfExpress
    ? mountInSource(source, wishOf(source, MOUNTED.express, wishes, pack))
    : wrapListeners(source, { mode: wishes.mode, packageType: pack.type })
  return mountedFrom(application, wishes, source, mounting)
}

async function besideHook(
  project: Project,
  application: Application,
  wishes: Wishes,
  path: string,
): Promise<Mounted> {
  const text = (await project.read(path)) ?? ''
  if (/['"]service-node['"]/.test(text)) return { edits: [], manual: [] }
  const guard = guardOf(wishes)
  const isProxy = /(?:^|\/)proxy\.\w+$/.test(path)
  const line = 1 + text.split('\n').findIndex((line) => /^\s*export\b/.test(line))
  const code = `import { NextResponse } from 'next/server'
import { ${guard} } from 'service-node'

const guarded = ${guard}().next(NextResponse)

export async function ${isProxy ? 'proxy' : 'middleware'}(request) {
  const answer = await guarded(request)
  if (!answer.headers.has('x-middleware-next')) return answer
  // what this file does already
}`
  const where = isProxy
    ? ''
    : " It has to run on Node.js: export const config = { runtime: 'nodejs' }."
  return {
    edits: [],
    manual: [
      {
        path,
        line: Math.max(line, 1),
        text: `Ask the guard before anything else in this file, for every path: a matcher leaves the rest open.${where} A server of your own around the application sees more: ${application.framework} is then guarded before it reads the request.`,
        code,
      },
    ],
  }
}

const EXPORTED =
  'it is exported as files (output: export), and files are guarded by whoever serves them'

async function reasonAgainst(
  project: Project,
  { folder, variant }: Application,
): Promise<string | null> {
  for (const name of CONFIGS) {
    const text = (await project.read(under(folder, name))) ?? ''
    if (/\boutput\s*:\s*['"]export['"]/.test(text)) return EXPORTED
    if (/\bpageExtensions\b/.test(text))
      return 'pageExtensions in its configuration renames what Next.js looks for'
  }
  const version = versionOf(variant)
  if (version === null) return 'it is not known which version of Next.js this is'
  if (version.major > 15 || (version.major === 15 && version.minor >= 5)) return null
  return 'before version 15.5 Next.js has no hook on the Node.js runtime'
}

function versionOf(variant: string | null): { major: number; minor: number } | null {
  if (variant !== null && /^(?:latest|canary|next)$/.test(variant)) return { major: 16, minor: 0 }
  const found = /^\s*(?:[\^~=v]|>=)?\s*(\d+)(?:\.(\d+))?/.exec(variant ?? '')
  return found ? { major: Number(found[1]), minor: Number(found[2] ?? 0) } : null
}

function newHook(project: Project, application: Application, wishes: Wishes): FileEdit {
  const { folder, language, variant } = application
  const isBelowSource = project.files.some(({ path }) =>
    ['src/app', 'src/pages'].some((at) => isUnder(under(folder, at), path)),
  )
  const isOlder = (versionOf(variant)?.major ?? 16) < 16
  const name = `${isOlder ? 'middleware' : 'proxy'}.${language === 'typescript' ? 'ts' : 'js'}`
  const guard = guardOf(wishes)
  const after = `import { NextResponse } from 'next/server'
import { ${guard} } from 'service-node'

/** Before everything else, for every path: without a matcher nothing is left out. */
export const ${isOlder ? 'middleware' : 'proxy'} = ${guard}().next(NextResponse)
${isOlder ? "\nexport const config = { runtime: 'nodejs' }\n" : ''}`
  return {
    path: under(folder, isBelowSource ? `src/${name}` : name),
    before: null,
    after,
    why: 'Every request passes the sign-in protection before Next.js answers it.',
  }
}
