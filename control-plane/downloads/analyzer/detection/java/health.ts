/** Actuator's health path, or a controller's. */
import type { Clue } from '../assemble.ts'
import { bestHealth, healthRank, joinPaths } from '../health.ts'
import { firstHit, hits, placeAt, stringAt, type Source } from '../source/source.ts'
import type { JavaModule } from './builds.ts'
import type { Settings } from './properties.ts'

const ACTUATOR = 'org.springframework.boot:spring-boot-starter-actuator'
const MAPPING = /@(?:Get|Request)Mapping\s*\(\s*(?:(?:value|path)\s*=\s*)?[{[]?\s*/

export function healthOf(
  bases: readonly JavaModule[],
  sources: readonly Source[],
  settings: Settings,
): Clue<string> | null {
  const context =
    (settings.get('server.servlet.contextpath') ?? settings.get('spring.webflux.basepath'))
      ?.value ?? ''
  const used = bases
    .flatMap(({ dependencies }) => dependencies)
    .find(({ name, isDev }) => name === ACTUATOR && !isDev)
  if (used === undefined) return ofControllers(sources, context)
  const base = settings.get('management.endpoints.web.basepath')?.value ?? '/actuator'
  const own = settings.get('management.endpoints.web.pathmapping.health')?.value ?? 'health'
  const port = settings.get('management.server.port')
  const isApart = port !== undefined && port.value !== settings.get('server.port')?.value
  return {
    value: isApart ? joinPaths(base, own) : joinPaths(context, base, own),
    at: used.at,
    confidence: isApart ? 'guess' : 'sure',
    detail: isApart ? `Actuator answers there, on port ${port.value}.` : 'Actuator answers there.',
  }
}

function ofControllers(sources: readonly Source[], context: string): Clue<string> | null {
  const found = sources.flatMap((source) => {
    const type = firstHit(source, /\b(?:class|interface)\s+\w+/)?.index ?? 0
    const mappings = hits(source, MAPPING).map(({ index, end }) => ({
      index,
      path: stringAt(source, end),
    }))
    const prefix = mappings.find(({ index }) => index < type)?.path ?? ''
    return mappings.flatMap(({ index, path }) =>
      path === null || index < type || healthRank(path) === null
        ? []
        : [{ path: joinPaths(context, prefix, path), at: placeAt(source, index) }],
    )
  })
  const best = bestHealth(found, ({ path }) => path)
  if (best === null) return null
  return {
    value: best.path,
    at: best.at,
    confidence: 'likely',
    detail: 'A controller answers there.',
  }
}
