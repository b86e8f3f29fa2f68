/** Routes of Remix and React Router, which lie there as files: one that answers whether the application is well. */
import { within } from '../folders.ts'
import { bestHealth, type HealthPath } from '../health.ts'
import { packageFiles, type Codebase } from './codebase.ts'
import type { NodePackage } from './packages.ts'

const BUILDERS = ['@remix-run/dev', '@react-router/dev']
const ROUTE = /^(?:src\/)?app\/routes\/(.+)\.[cm]?[jt]sx?$/

/** What only has a loader is no page, and answers by itself. */
const LOADS = /\bexport\s+(?:async\s+function|function|const)\s+loader\b/

export async function fileRouteHealth(codebase: Codebase, one: NodePackage): Promise<HealthPath> {
  if (!BUILDERS.some((name) => one.dependencies.has(name))) return null
  const routes = packageFiles(codebase, one.folder).flatMap((path) => {
    const [, written] = ROUTE.exec(within(one.folder, path)) ?? []
    return written === undefined ? [] : [{ path: urlOf(written), at: { path, line: 1 } }]
  })
  const best = bestHealth(routes)
  const text = best === null ? null : await codebase.project.read(best.at.path)
  return text !== null && LOADS.test(text) ? best : null
}

/** `api.health`, `api+/health`, `_public/healthcheck/route`: what begins with `_` is no part of the path. */
function urlOf(written: string): string {
  const segments = written
    .replace(/\/(?:route|index)$/, '')
    .split(/[/.]/)
    .map((segment) => segment.replace(/\+$/, '').replace(/^\$.*/, '*'))
    .filter((segment) => segment !== '' && !segment.startsWith('_'))
  return `/${segments.join('/')}`
}
