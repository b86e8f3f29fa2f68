/** Spring Boot, built by Maven or Gradle, in Java or Kotlin, in one module or many. */
import type { Project } from '../../project/project.ts'
import { clue, type Clue } from '../assemble.ts'
import { isAside, upwards } from '../folders.ts'
import { joinPaths } from '../health.ts'
import { BOOT, byName, type BuildModule } from '../manifests/dependencies.ts'
import { gradleModule } from '../manifests/gradle.ts'
import { mavenModule } from '../manifests/maven.ts'
import { settingOf } from '../manifests/settings.ts'
import type { Found, Language, Reading } from '../reader/language.ts'
import {
  inLanguage,
  managedBy,
  manifestsOf,
  type Part,
  type Parts,
  type ReadPart,
} from '../reader/part.ts'
import { inClassOf, type Nesting } from '../reader/routes.ts'
import { firstSaid, type PlaceRule } from '../reader/rules.ts'
import { firstHit } from '../source/source.ts'

/** `bases`: the folders of what it inherits from and is built on, its own first. */
interface Module extends Part {
  readonly bases: readonly string[]
}

const MAIN = /\bstatic\s+void\s+main\s*\(|\bfun\s+main\s*\(/
/** Code that answers, where no library says that it serves. */
const ANSWERS = /@(?:Rest)?Controller\b(?!Advice)|\bRouterFunction\s*</
const WEB =
  /:(?:spring-boot-starter-(?:web|webmvc|webflux|jersey|graphql|data-rest|hateoas|websocket|thymeleaf)|spring-web(?:mvc|flux)?|spring-cloud-starter-gateway[\w-]*|spring-cloud-config-server|spring-cloud-starter-netflix-eureka-server|spring-boot-admin-starter-server)$/

const BOOTS = [
  // the annotation of them all, or the older one beside the call that starts it
  { code: /@SpringBootApplication\b/ },
  {
    code: /@EnableAutoConfiguration\b/,
    beside: /\bSpringApplication\s*\.\s*run\b|\brunApplication\b/,
  },
]
const MOUNT: readonly PlaceRule[] = BOOTS.map((rule) => ({
  ...rule,
  first: MAIN,
  value: '@SpringBootApplication',
  confidence: 'sure',
  severally: 'guess',
  detail: 'Components in this package and below are found from here.',
}))

const MAPPING = /@(?:Get|Request)Mapping\s*\(\s*(?:(?:value|path)\s*=\s*)?[{[]?\s*/
const CONTROLLER = inClassOf(/\b(?:class|interface)\s+(\w+)[^{;]*(?=\{)/, MAPPING)

export const JAVA: Language<Module> = {
  name: 'java',
  title: 'Java and Kotlin',
  files: /\.(?:java|kt)$/,
  isAside: isOfTests,
  settings: ['config/', ''].flatMap((folder) =>
    ['properties', 'yml', 'yaml'].map((end) => `src/main/resources/${folder}application.${end}`),
  ),
  parts: readModules,
  several: 'It is one of several modules.',
  frameworks: [
    {
      name: 'spring',
      title: 'Spring Boot',
      packages: [/^org\.springframework\.boot$/],
      detail: ['The build names Spring Boot, and the code starts it.'],
      made: startedOnes,
      entry: [
        ...BOOTS.map((rule) => ({ ...rule, beside: MAIN, at: MAIN, confidence: 'sure' as const })),
        ...BOOTS.map((rule) => ({ ...rule, confidence: 'likely' as const })),
      ].map((rule) => ({ ...rule, detail: 'The program starts here.' })),
      mount: MOUNT,
      routes: [
        {
          calls: MAPPING,
          nested: [inContext],
          confidence: 'likely',
          detail: 'A controller answers there.',
        },
      ],
      port: [
        {
          setting: /^server\.port$/,
          reads: [/^(\d{2,5})$/],
          confidence: 'sure',
          detail: 'The settings say so.',
        },
        'deployment',
      ],
      customaryPort: [8080, 'Spring Boot listens there unless told otherwise.'],
      signIn: {
        packages: [
          [/:spring-boot-starter-security$|:spring-security-(?:web|config)$/, 'spring-security'],
          [/:spring-boot-starter-(?:security-)?oauth2-client$/, 'spring-security-oauth2-client'],
          [
            /:spring-boot-starter-(?:security-)?oauth2-resource-server$/,
            'spring-security-oauth2-resource-server',
          ],
          [
            /:spring-boot-starter-(?:security-)?oauth2-authorization-server$/,
            'spring-authorization-server',
          ],
          [/:spring-session-[\w-]+$/, 'spring-session'],
          [/:keycloak-[\w-]*adapter$|:keycloak-spring-boot-starter$/, 'keycloak'],
          [/^io\.jsonwebtoken:jjwt/, 'jjwt'],
          [/^com\.auth0:/, 'auth0'],
          [/:okta-spring-boot-starter$/, 'okta'],
          [/^org\.pac4j:/, 'pac4j'],
          [/^org\.apache\.shiro:/, 'shiro'],
        ],
      },
      integrated: [{ code: /\bclass\s+ServiceClaims\w*/ }],
    },
  ],
}

async function readModules(project: Project): Promise<Parts<Module>> {
  const modules = new Map<string, BuildModule>()
  const names = /(?:^|\/)(?:pom\.xml|build\.gradle(?:\.kts)?)$/
  for await (const { path, text, folder } of manifestsOf(project, names)) {
    if (modules.has(folder)) continue
    const read = path.endsWith('.xml') ? mavenModule : gradleModule
    modules.set(folder, await read(project, path, text))
  }
  const parts = [...modules].map(([folder, { path, name, tool }]) => {
    const bases = basesOf(modules, folder)
    const all = bases.flatMap((base) => modules.get(base) ?? [])
    const boots = all.flatMap(({ boot }) => boot ?? [])
    const boot = boots.find(({ version }) => version !== null) ?? boots[0]
    const found = all.flatMap(({ dependencies }) => dependencies)
    return {
      folder,
      bases,
      dependencies: byName(boot === undefined ? found : [boot, ...found]),
      packageManager: managedBy(tool, path),
      called: name,
    }
  })
  return { parts, remarks: [] }
}

/** The module, what it inherits from folders around it, and those that it is built on. */
function basesOf(modules: ReadonlyMap<string, BuildModule>, start: string): string[] {
  const found = new Set([start])
  for (const folder of found) {
    for (const around of upwards(folder)) if (modules.has(around)) found.add(around)
    for (const named of modules.get(folder)?.own ?? [])
      for (const [other, { name }] of modules)
        if (name === named || other === named || other.endsWith(`/${named}`)) found.add(other)
  }
  return [...found]
}

/** `com.example.demo` is a package like any other: only what lies in front of it tells. */
function isOfTests(path: string): boolean {
  const [, folder = '', kind = ''] = /^(.*?)(?:^|\/)src\/(\w+)\//.exec(path) ?? []
  return /^(?:test|integrationTest|it|testFixtures)$/.test(kind) || isAside(`${folder}/`)
}

function startedOnes({ parts, remarks }: Reading<Module>): Found<Module>[] {
  return parts.flatMap((part) => {
    const made = firstSaid(part, MOUNT)
    if (made === null) return []
    const { path } = made.source
    if (!isServed(part, parts)) {
      remarks.push(`${path} starts Spring Boot, but no web server was found among its libraries.`)
      return []
    }
    const health = ofActuator(part)
    const language = path.endsWith('.kt')
      ? inLanguage('kotlin', 'Kotlin')
      : inLanguage('java', 'Java')
    return [{ part, made, language, ...(health && { health }) }]
  })
}

function isServed({ dependencies, bases }: Module, parts: readonly ReadPart<Module>[]): boolean {
  const isWeb = [...dependencies.values()].some(({ name, isDev }) => !isDev && WEB.test(name))
  const around = parts.filter(({ folder }) => bases.includes(folder))
  return isWeb || around.some(({ sources }) => sources.some((one) => firstHit(one, ANSWERS)))
}

function contextOf({ settings }: ReadPart): string {
  const named = ['server.servlet.contextpath', 'spring.webflux.basepath']
  return named.map((name) => settingOf(settings, name)?.value).find(Boolean) ?? ''
}

function inContext(...[part, place]: Parameters<Nesting>): ReturnType<Nesting> {
  const own = CONTROLLER(part, place)
  if (own === null || own === 'none') return own
  return { ...own, path: joinPaths(contextOf(part), own.path) }
}

function ofActuator(part: ReadPart): Clue<string> | null {
  const used = part.dependencies.get(`${BOOT}:spring-boot-starter-actuator`)
  if (used === undefined || used.isDev) return null
  const valueOf = (name: string) => settingOf(part.settings, name)?.value
  const path = joinPaths(
    valueOf('management.endpoints.web.basepath') ?? '/actuator',
    valueOf('management.endpoints.web.pathmapping.health') ?? 'health',
  )
  const port = valueOf('management.server.port')
  if (port !== undefined && port !== valueOf('server.port'))
    return clue(path, used.at, 'guess', `Actuator answers there, on port ${port}.`)
  return clue(joinPaths(contextOf(part), path), used.at, 'sure', 'Actuator answers there.')
}
