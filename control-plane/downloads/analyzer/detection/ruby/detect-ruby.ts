/** Rails: config/application.rb names the application, whatever else a repository holds. */
import type { Project } from '../../project/project.ts'
import type { Application, Detection } from '../application.ts'
import { assemble, type Clue } from '../assemble.ts'
import { readDeployment } from '../deployment.ts'
import { folderOf, isAside, isUnder, under, upwards } from '../folders.ts'
import { integratedIn } from '../integrated.ts'
import { needed, type Dependencies } from '../manifests/dependencies.ts'
import { firstHit, hits, placeAt, readSource, readSources, type Source } from '../source/source.ts'
import { readGemfile } from './gemfile.ts'
import { healthRoute } from './routes.ts'
import { SIGN_IN_GEMS } from './sign-in.ts'

const APPLICATION = /^[ \t]*class\s+[\w:]+\s*<\s*(?:::)?Rails::Application\b/m

export async function detectRuby(project: Project): Promise<Detection> {
  const applications: Application[] = []
  for (const { path } of project.files) {
    if (!/(?:^|\/)config\/application\.rb$/.test(path) || isAside(path)) continue
    const source = await readSource(project, path, 'ruby')
    const hit = source === null ? null : firstHit(source, APPLICATION)
    if (source !== null && hit !== null)
      applications.push(await application(project, source, hit.index))
  }
  return { applications, remarks: [] }
}

async function application(project: Project, source: Source, index: number): Promise<Application> {
  const folder = folderOf(folderOf(source.path))
  const gemfile = upwards(folder)
    .map((folder) => under(folder, 'Gemfile'))
    .find((path) => project.has(path))
  const gems: Dependencies = gemfile === undefined ? new Map() : await readGemfile(project, gemfile)
  const rails = needed(gems, 'rails') ?? needed(gems, 'railties')
  const deployment = await readDeployment(project, folder)
  const routes = await read(project, folder, /^config\/routes(?:\.rb|\/.*\.rb)$/)
  const settings = await read(
    project,
    folder,
    /^config\/(?:initializers|environments)\/.*\.rb$|^config\/environment\.rb$/,
  )
  const isApi = firstHit(source, /^[ \t]*config\.api_only\s*=\s*true\b/m) !== null
  const kind = isApi ? 'a Rails application that is an API only' : 'a Rails application'
  return assemble({
    folder,
    framework: {
      value: 'rails',
      at: rails?.at ?? placeAt(source, index),
      confidence: rails === null ? 'likely' : 'sure',
      detail:
        rails === null
          ? `The code says that it is ${kind}.`
          : `Rails is a dependency, and the code says that it is ${kind}.`,
    },
    variant: rails?.version ?? null,
    language: { value: 'ruby', at: null, confidence: 'sure', detail: 'It is written in Ruby.' },
    packageManager:
      gemfile === undefined
        ? null
        : {
            value: 'bundler',
            at: { path: gemfile, line: 1 },
            confidence: 'sure',
            detail: 'A Gemfile is there.',
          },
    entry: await entry(project, folder, source),
    mount: {
      value: 'Rails::Application',
      at: placeAt(source, index),
      confidence: 'sure',
      detail: 'The application is made here; initializers add middleware to it.',
    },
    health: healthRoute(routes) ?? deployment.health,
    port: deployment.port ??
      (await portOfPuma(project, folder)) ?? {
        value: 3000,
        at: null,
        confidence: 'likely',
        detail: 'Rails listens there unless told otherwise.',
      },
    signIn: await signIn(project, folder, gems),
    integrated: integratedIn([...settings, source]),
  })
}

async function read(project: Project, folder: string, test: RegExp): Promise<Source[]> {
  const paths = project.files
    .map(({ path }) => path)
    .filter(
      (path) =>
        isUnder(folder, path) && test.test(path.slice(folder === '' ? 0 : folder.length + 1)),
    )
  return readSources(project, paths, 'ruby')
}

async function entry(project: Project, folder: string, application: Source) {
  const rackup = await readSource(project, under(folder, 'config.ru'), 'ruby')
  const run = rackup === null ? null : firstHit(rackup, /^[ \t]*run\b/m)
  const at = rackup === null ? placeAt(application, 0) : placeAt(rackup, run?.index ?? 0)
  const detail =
    rackup === null ? 'Rails is started by it.' : 'Every Rack server starts it by this file.'
  return { value: at.path, at, confidence: rackup === null ? 'likely' : 'sure', detail } as const
}

/** `port ENV.fetch("PORT") { 3000 }`, `port 4000` */
async function portOfPuma(project: Project, folder: string): Promise<Clue<number> | null> {
  const source = await readSource(project, under(folder, 'config/puma.rb'), 'ruby')
  const hit = source === null ? null : firstHit(source, /^[ \t]*port[ (]\s*/m)
  if (source === null || hit === null) return null
  const line = /^[^\n]*/.exec(source.text.slice(hit.end))?.[0] ?? ''
  const [, port] = /\b(\d{2,5})\b/.exec(line) ?? []
  if (port === undefined) return null
  const isFixed = line.startsWith(port)
  return {
    value: Number(port),
    at: placeAt(source, hit.index),
    confidence: isFixed ? 'sure' : 'likely',
    detail: isFixed ? 'Puma is told so.' : 'Puma is told so, where the environment says nothing.',
  }
}

async function signIn(
  project: Project,
  folder: string,
  gems: Dependencies,
): Promise<Clue<string>[]> {
  const found: Clue<string>[] = SIGN_IN_GEMS.flatMap((name) => {
    const gem = needed(gems, name)
    return gem === null
      ? []
      : [{ value: name, at: gem.at, confidence: 'likely', detail: 'It is a dependency.' }]
  })
  const code = await read(
    project,
    folder,
    /^app\/(?:models\/.*|controllers\/concerns\/authentication)\.rb$/,
  )
  for (const source of code) {
    const [password] = hits(source, /^[ \t]*has_secure_password\b/m)
    if (password !== undefined)
      found.push({
        value: 'has_secure_password',
        at: placeAt(source, password.index),
        confidence: 'sure',
        detail: 'A model keeps passwords.',
      })
    const [generated] = hits(source, /\bdef\s+(?:start_new_session_for|resume_session)\b/)
    if (generated !== undefined)
      found.push({
        value: 'rails authentication',
        at: placeAt(source, generated.index),
        confidence: 'sure',
        detail: "Rails' own generator made it.",
      })
  }
  return found
}
