/** Which modules of the project, as a file names them, have to do with the middleware. */
import type { Project } from '../../project/project.ts'
import { importsOf } from '../../syntax/imports.ts'
import { oncePer } from '../../syntax/once-per.ts'
import type { Source } from '../../syntax/parse.ts'
import { packagesOf } from './packages.ts'
import { createResolver, type Resolver } from './resolve.ts'

const ADAPTERS = /\.\s*(?:express|fastify|koa|hono|nest|node|next|upgrade)\s*\(/
const PASSED_ON = /(?:\bexport\b|\bmodule\.exports\b)[^\n]{0,200}?['"]([.@~#][^'"\n]{0,200})['"]/g
/** A file that passes on what another passes on, and so forth. */
const STEPS_MAX = 3

/** `loaders.express()` of a module without it is not ours, whatever it is called. */
export async function withServices(
  project: Project,
  resolver: Resolver,
  source: Source,
): Promise<Source> {
  const services = new Set<string>()
  if (ADAPTERS.test(source.text))
    for (const { module } of importsOf(source)) {
      if (services.has(module) || !/^[.@~#]/.test(module)) continue
      if (await hasMiddleware(project, resolver, source.path, module)) services.add(module)
    }
  return { ...source, services }
}

async function hasMiddleware(
  project: Project,
  resolver: Resolver,
  from: string,
  module: string,
  steps = 0,
): Promise<boolean> {
  const path = await resolver.resolve(from, module)
  const text = path === null ? null : await project.read(path)
  if (path === null || text === null) return false
  if (/['"]service-node['"]/.test(text)) return true
  if (steps >= STEPS_MAX) return false
  for (const [, inner = ''] of text.matchAll(PASSED_ON))
    if (await hasMiddleware(project, resolver, path, inner, steps + 1)) return true
  return false
}

export const resolverOf = oncePer(async (project: Project) =>
  createResolver(project, await packagesOf(project)),
)
