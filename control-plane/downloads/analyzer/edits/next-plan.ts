/**
 * Next.js: a server of its own is put behind the guard, since it sees the request as it came; without
 * one, `proxy.ts` (Next.js 16 and later) or `middleware.ts` on the Node runtime (15.5 and later).
 */
import type { Application } from '../detection/application.ts'
import { isUnder, under, within } from '../detection/folders.ts'
import { isWithin } from '../detection/node/paths.ts'
import { makingsIn } from '../detection/node/makings.ts'
import { NO_PARTS, shown, type FileEdit, type Parts } from '../plan.ts'
import type { Project } from '../project/project.ts'
import type { Source } from '../syntax/parse.ts'
import { guardCall } from './guard-call.ts'
import { mountedIn, shownStep, snippetFor, STYLE, type Planned } from './mounted.ts'
import { MOUNTED } from './mounted-frameworks.ts'
import { sourcesWith } from './node-sources.ts'
import { guardOf } from './wishes.ts'

const HOOKS = ['proxy', 'middleware'].flatMap((name) =>
  ['ts', 'js', 'mts', 'mjs', 'tsx', 'jsx'].map((end) => `${name}.${end}`),
)
const CONFIGS = ['js', 'mjs', 'cjs', 'ts', 'mts'].map((end) => `next.config.${end}`)

export async function nextMounting(at: Planned): Promise<Parts> {
  const { project, application } = at
  const server = (await isServedByNext(at)) ? undefined : await customServer(at)
  if (server !== undefined) return behindGuard(at, server)
  const { folder } = application
  const places = [folder, under(folder, 'src')]
  const hook = places
    .flatMap((at) => HOOKS.map((name) => under(at, name)))
    .find((path) => project.has(path))
  if (hook !== undefined) return besideHook(at, hook)
  const problem = await reasonAgainst(project, application)
  return problem === null ? { ...NO_PARTS, edits: [newHook(at)] } : serverStep(at, problem)
}

/** There is no line to show: the file is yet to be written. */
function serverStep(at: Planned, problem: string): Parts {
  const { application, wishes } = at
  const place = application.mount ?? application.entry
  if (place !== null || problem === EXPORTED) return shownStep(at, place, problem)
  const text = `Start Next.js from a custom server with the guard around its listener, and run that server in the start script. Not done automatically because ${problem}.`
  const code = snippetFor('next', wishes, 'app', 'esm')
  return shown(under(application.folder, 'server.mjs'), null, text, code)
}

/** `next start`: a server that another program makes is not what is started. */
async function isServedByNext({ project, application, pack: { manifestPath } }: Planned) {
  const text = manifestPath === null ? '' : ((await project.read(manifestPath)) ?? '')
  return application.entry === null && /"start"\s*:\s*"[^"]*\bnext start\b/.test(text)
}

/** A program that makes the application by `next({ … })`. */
async function customServer({ project, application: { folder }, pack: { type } }: Planned) {
  const found = await sourcesWith(project, folder, type, /['"]next['"]/)
  return found.find((source) => makingsIn(source).some(({ framework }) => framework === 'next'))
}

function behindGuard(at: Planned, source: Source): Parts {
  const isOfExpress = makingsIn(source).some(
    ({ framework, kind }) => framework === 'express' && kind === 'application',
  )
  return mountedIn(at, source, isOfExpress ? MOUNTED.express : undefined)
}

async function besideHook({ project, wishes }: Planned, path: string): Promise<Parts> {
  const text = (await project.read(path)) ?? ''
  if (/['"]service-node['"]/.test(text)) return NO_PARTS
  const guard = guardOf(wishes)
  const isProxy = /(?:^|\/)proxy\.\w+$/.test(path)
  const line = 1 + text.split('\n').findIndex((line) => /^\s*export\b/.test(line))
  const code = `import { NextResponse } from 'next/server'
import { ${guard} } from 'service-node'

const guarded = ${guardCall(STYLE, guard, wishes)}.next(NextResponse)

export async function ${isProxy ? 'proxy' : 'middleware'}(request) {
  const answer = await guarded(request)
  if (!answer.headers.has('x-middleware-next')) return answer
  // what this file does already
}`
  const where = isProxy
    ? ''
    : " It must run on Node.js: export const config = { runtime: 'nodejs' }."
  const ask = `Call the guard before anything else in this file, for every path: a matcher would leave the rest open.${where} A custom server protects more: it guards each request before Next.js reads it. Not done automatically because this file answers requests already.`
  return shown(path, Math.max(line, 1), ask, code)
}

const EXPORTED =
  'it is exported as static files (output: export), so protection belongs to the server of those files'

async function reasonAgainst(
  project: Project,
  { folder, variant }: Application,
): Promise<string | null> {
  const isPage = /^(?:src\/)?(?:app|pages)\//
  if (
    !project.files.some(({ path }) => isWithin(folder, path) && isPage.test(within(folder, path)))
  )
    return 'its pages are not here, only what was built of them'
  for (const name of CONFIGS) {
    const text = (await project.read(under(folder, name))) ?? ''
    if (/\boutput\s*:\s*['"]export['"]/.test(text)) return EXPORTED
    if (/\bpageExtensions\b/.test(text))
      return 'pageExtensions in its configuration changes the file names Next.js looks for'
  }
  const version = versionOf(variant)
  if (version === null) return 'the version of Next.js is unknown'
  if (version.major > 15 || (version.major === 15 && version.minor >= 5)) return null
  return 'before version 15.5 Next.js has no hook on the Node.js runtime'
}

function versionOf(variant: string | null): { major: number; minor: number } | null {
  if (variant !== null && /^(?:latest|canary|next)$/.test(variant)) return { major: 16, minor: 0 }
  const found = /^\s*(?:[\^~=v]|>=)?\s*(\d+)(?:\.(\d+))?/.exec(variant ?? '')
  return found ? { major: Number(found[1]), minor: Number(found[2] ?? 0) } : null
}

function newHook({ project, application, wishes }: Planned): FileEdit {
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
export const ${isOlder ? 'middleware' : 'proxy'} = ${guardCall(STYLE, guard, wishes)}.next(NextResponse)
${isOlder ? "\nexport const config = { runtime: 'nodejs' }\n" : ''}`
  return {
    path: under(folder, isBelowSource ? `src/${name}` : name),
    before: null,
    after,
    why: 'Runs the sign-in protection before Next.js answers.',
  }
}
