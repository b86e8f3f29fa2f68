/** The applications that the table of a language finds in a project. Read this first. */
import { LIMITS } from '../../../../../shared/limits.ts'
import type { Project } from '../../project/project.ts'
import type { Application, Detection, Finding, Place } from '../application.ts'
import { assemble, clue, finding, weakest, type Clue } from '../assemble.ts'
import { readDeployment } from '../deployment.ts'
import { isAside, isUnder, nearest, within } from '../folders.ts'
import { needed } from '../manifests/dependencies.ts'
import { readSettings, settingSaid } from '../manifests/settings.ts'
import { firstHit, placeAt, readSources } from '../source/source.ts'
import { configuredPort } from './configured-port.ts'
import type { Found, Framework, Language, PortRule, Reading, SignInTable } from './language.ts'
import { inLanguage, partsBy, type Part, type Parts, type ReadPart } from './part.ts'
import { healthOf } from './routes.ts'
import { filesOf, firstSaid } from './rules.ts'

export async function readLanguage<P extends Part>(
  project: Project,
  language: Language<P>,
): Promise<Detection> {
  const { parts, remarks: problems } = await partsOf(project, language)
  const remarks = [...problems]
  const reading = { parts: await readParts(project, language, parts, remarks), remarks }
  const isOneOfSeveral = parts.length > 1
  const applications = language.frameworks.flatMap((framework) => {
    const found = foundBy(framework, reading).flatMap(
      (one) => describe(language, framework, one, isOneOfSeveral) ?? [],
    )
    // beside one that is started: a tool
    const started = found.filter(({ entry, mount }) => entry !== null || mount !== null)
    return started.length > 0 ? started : found
  })
  return { applications, remarks }
}

function partsOf<P extends Part>(project: Project, { parts }: Language<P>): Promise<Parts<P>> {
  if (typeof parts === 'function') return parts(project)
  // a table is for a language whose parts are no more than that
  return partsBy(project, parts) as Promise<Parts<P>>
}

function foundBy<P extends Part>({ made }: Framework<P>, reading: Reading<P>): readonly Found<P>[] {
  if (typeof made === 'function') return made(reading)
  return reading.parts.flatMap((part) => {
    const said = made === 'manifest' ? { at: null, detail: '' } : firstSaid(part, made)
    return said === null ? [] : [{ part, made: said }]
  })
}

async function readParts<P extends Part>(
  project: Project,
  { title, files, settings = [], isAside: aside = isAside }: Language<P>,
  parts: readonly P[],
  remarks: string[],
): Promise<ReadPart<P>[]> {
  const folders = new Set(parts.map(({ folder }) => folder))
  const paths = project.files.flatMap(({ path }) => {
    const folder = nearest(folders, path)
    return folder !== null && files.test(within(folder, path)) && !aside(path)
      ? [{ path, folder }]
      : []
  })
  const looked = paths.slice(0, LIMITS.detectionSourcesMax)
  if (looked.length < paths.length)
    remarks.push(`Only ${looked.length} of ${paths.length} ${title} files were looked at.`)
  const read: ReadPart<P>[] = []
  for (const part of parts.filter(({ isLibrary }) => isLibrary !== true)) {
    const own = [part.folder, ...(part.brings ?? [])].flatMap((from) =>
      looked.filter(({ folder }) => folder === from).map(({ path }) => path),
    )
    read.push({
      ...part,
      sources: await readSources(project, own),
      settings: await readSettings(project, part.folder, settings),
      deployment: await readDeployment(project, part.folder, isAlone(part.folder, looked)),
    })
  }
  return read
}

/** Most of the code is its own, and the rest lies in parts below it: plugins, tools. */
function isAlone(folder: string, looked: readonly { path: string; folder: string }[]): boolean {
  const own = looked.filter((one) => one.folder === folder)
  return own.length * 2 > looked.length && looked.every(({ path }) => isUnder(folder, path))
}

function describe<P extends Part>(
  { name, title, several }: Language<P>,
  rules: Framework<P>,
  found: Found<P>,
  isOneOfSeveral: boolean,
): Application | null {
  const part = { ...found.part, sources: found.sources ?? found.part.sources }
  const dependency = rules.packages.map((one) => named(part, one)).find(Boolean) ?? null
  if (dependency === null && rules.isNamed === true) return null
  const [detail, unnamed = detail] = rules.detail
  const { packageManager, language = inLanguage(name, title), called = part.folder } = part
  const pieces = {
    framework: dependency
      ? clue(rules.name, dependency.at, 'sure', detail.replace('%', found.made.detail))
      : clue(rules.name, found.made.at, 'likely', unnamed.replace('%', found.made.detail)),
    language,
    entry: firstSaid(part, rules.entry ?? []),
    mount: firstSaid(part, rules.mount ?? []),
    health: surest(healthOf(part, rules.routes ?? []), part.deployment.health),
    port: portOf(part, rules),
    ...found,
  }
  const { framework, entry, mount } = pieces
  const signIn = [...(found.signIn ?? []), ...signInOf(part, rules.signIn ?? {})]
  const workspace = isOneOfSeveral &&
    several !== undefined &&
    packageManager && { ...packageManager, value: called, detail: several }
  const about = (subject: Finding['about'], said: Clue<string | number> | null | false) =>
    said ? finding(subject, said.value, said.at, said.confidence, said.detail) : null
  return assemble(
    {
      folder: found.folder ?? part.folder,
      variant: found.variant ?? dependency?.version ?? null,
      modules: null,
      entry: entry?.at ?? null,
      mount: mount?.at ?? null,
      integrated: found.integrated ?? integratedIn(part, rules),
      // without the place to mount it, a person has to look
      confidence: weakest(
        framework.confidence,
        entry?.confidence ?? 'guess',
        mount?.confidence ?? 'guess',
      ),
    },
    [
      about('framework', framework),
      about('language', pieces.language),
      about('package_manager', packageManager),
      about('entry', entry),
      about('mount', mount),
      about('health', pieces.health),
      about('port', pieces.port),
      about('workspace', workspace),
      ...signIn
        .filter(({ value }, index) => signIn.findIndex((one) => one.value === value) === index)
        .map((one) => about('sign_in', one)),
    ],
  )
}

/** What is asked of the image goes before a route that is only half known. */
function surest(route: Clue<string> | null, asked: Clue<string> | null): Clue<string> | null {
  return route === null || route.confidence === 'guess' ? (asked ?? route) : route
}

function named({ dependencies }: Part, name: RegExp) {
  const found = [...dependencies.values()].find((one) => name.test(one.name))
  return found === undefined ? null : needed(dependencies, found.name)
}

function signInOf(
  part: ReadPart,
  { packages = [], code = [], developed = [] }: SignInTable,
): Clue<string>[] {
  const called = code.flatMap(([code, value, rule]) => {
    const usual = { code, value, confidence: 'sure', detail: 'The code calls for it.' } as const
    return firstSaid(part, [{ ...usual, ...rule }]) ?? []
  })
  const named = packages.flatMap((one): Clue<string>[] => {
    const [name, value] = typeof one === 'string' ? [one, one] : one
    const found = developed.includes(value)
      ? part.dependencies.get(value)
      : typeof name === 'string'
        ? needed(part.dependencies, name)
        : [...part.dependencies.values()].find((other) => !other.isDev && name.test(other.name))
    return found ? [clue(value, found.at, 'likely', 'It is a dependency.')] : []
  })
  return [...called, ...named]
}

function portOf<P extends Part>(
  part: ReadPart<P>,
  { port, customaryPort }: Framework<P>,
): Clue<number> | null {
  for (const rule of port) {
    const found = portSaid(part, rule)
    if (found !== null) return found
  }
  if (customaryPort === undefined) return null
  const [value, detail] = customaryPort
  return clue(value, null, 'likely', detail)
}

function portSaid(part: ReadPart, rule: PortRule): Clue<number> | null {
  if (rule === 'deployment') return part.deployment.port
  if (rule === 'configured') return configuredPort(part.sources)
  if ('setting' in rule) {
    const said = settingSaid(part.settings, rule)
    return said && { ...said, value: Number(said.value) }
  }
  const { code, reads, confidence, detail } = rule
  for (const source of filesOf(part, rule.in)) {
    const hit = firstHit(source, code)
    const [, port] = (hit && reads.exec(source.text.slice(hit.end))) ?? []
    if (hit !== null && port !== undefined)
      return clue(Number(port), placeAt(source, hit.index), confidence, detail)
  }
  return null
}

/** Not where it is defined: there alone it does nothing. Flask asks a function before each request. */
const MOUNTED =
  /(?<!\b(?:class|func|struct|def|type)\s+)\b(?:ServiceClaims|UseServiceClaims)\b|\.before_request\(\s*sign_in\s*\)|@\w+\.before_request\s+def sign_in\b/

function integratedIn<P extends Part>(
  part: ReadPart<P>,
  { integrated = [{}] }: Framework<P>,
): Place | null {
  for (const rule of integrated) {
    const said = firstSaid(part, [{ code: MOUNTED, ...rule, confidence: 'sure', detail: '' }])
    if (said !== null) return said.at
  }
  return null
}
