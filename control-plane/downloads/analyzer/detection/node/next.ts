/** Next.js as it lies there: its routers, the proxy in front of them, and a route for health. */
import type { Place } from '../application.ts'
import { under, within } from '../folders.ts'
import { bestHealth, type HealthPath } from '../health.ts'
import { packageFiles, type Codebase } from './codebase.ts'
import type { NodePackage } from './packages.ts'

export interface NextFound {
  /** `app`, `pages`, or both. */
  readonly routers: readonly string[]
  /** proxy.ts, or middleware.ts as it was called before. */
  readonly proxy: Place | null
  readonly config: string | null
  readonly health: HealthPath
}

const PAGE = /^(?:src\/)?(app|pages)\/(.*)\.[cm]?[jt]sx?$/

/** null: it is no application of Next.js, whatever it depends on. */
export async function nextOf(
  codebase: Codebase,
  one: NodePackage,
  isStarted = false,
): Promise<NextFound | null> {
  const { project } = codebase
  const routers = new Set<string>()
  const urls: { path: string; at: Place }[] = []
  for (const path of packageFiles(codebase, one.folder)) {
    const [, router = '', page = ''] = PAGE.exec(within(one.folder, path)) ?? []
    if (router === 'app' && !/(?:^|\/)(?:page|layout|route)$/.test(page)) continue
    if (router === '') continue
    routers.add(router)
    const url = urlOf(router, page)
    if (url !== null) urls.push({ path: url, at: { path, line: 1 } })
  }
  const named = (names: readonly string[]) =>
    names
      .flatMap((name) => ['', 'src/'].map((folder) => under(one.folder, `${folder}${name}`)))
      .find((path) => project.has(path)) ?? null
  const endings = ['ts', 'js', 'mts', 'mjs', 'tsx']
  const proxy = named(
    ['proxy', 'middleware'].flatMap((name) => endings.map((ending) => `${name}.${ending}`)),
  )
  const config = named(endings.map((ending) => `next.config.${ending}`))
  // what was published may be built already
  if (routers.size === 0 && !(isStarted && config !== null)) return null
  return {
    routers: [...routers].sort(),
    proxy: proxy === null ? null : { path: proxy, line: await lineOfExport(codebase, proxy) },
    config,
    health: bestHealth(urls),
  }
}

/** `app/(admin)/api/health/route` is `/api/health`, `pages/api/health` too; only routes of the server. */
function urlOf(router: string, page: string): string | null {
  if (router === 'app') {
    const folder = /^(.*)\/route$/.exec(page)?.[1]
    return folder === undefined ? null : `/${folder.replace(/(?:^|(?<=\/))\([^)/]*\)\//g, '')}`
  }
  return page.startsWith('api/') ? `/${page.replace(/\/index$/, '')}` : null
}

async function lineOfExport(codebase: Codebase, path: string): Promise<number> {
  const source = await codebase.source(path)
  const exported = source?.file.program.body.find(
    ({ type }) => type === 'ExportNamedDeclaration' || type === 'ExportDefaultDeclaration',
  )
  return exported?.loc?.start.line ?? 1
}
