/** Laravel: since version 11 bootstrap/app.php has the middleware, before that app/Http/Kernel.php. */
import type { Project } from '../../project/project.ts'
import type { Application, Detection } from '../application.ts'
import { assemble, type Clue } from '../assemble.ts'
import { readDeployment } from '../deployment.ts'
import { folderOf, isAside, isUnder, under } from '../folders.ts'
import { integratedIn } from '../integrated.ts'
import { needed, type Dependencies } from '../manifests/dependencies.ts'
import { firstHit, hits, placeAt, readSource, readSources, type Source } from '../source/source.ts'
import { readComposer } from './composer.ts'
import { healthOf } from './routes.ts'

export async function detectPhp(project: Project): Promise<Detection> {
  const applications: Application[] = []
  const remarks: string[] = []
  for (const { path } of project.files) {
    if (!/(?:^|\/)composer\.json$/.test(path) || isAside(path)) continue
    const { dependencies, problem } = await readComposer(project, path)
    if (problem !== null) remarks.push(`${path} cannot be read: ${problem}.`)
    const folder = folderOf(path)
    const found = await application(project, folder, dependencies)
    if (found !== null) applications.push(found)
  }
  return { applications, remarks }
}

/** A package for Laravel has it among its dependencies as well, but no application around it. */
async function application(project: Project, folder: string, dependencies: Dependencies) {
  const laravel = needed(dependencies, 'laravel/framework')
  const bootstrap = await readSource(project, under(folder, 'bootstrap/app.php'), 'php')
  if (laravel === null || bootstrap === null) return null
  const kernel = await readSource(project, under(folder, 'app/Http/Kernel.php'), 'php')
  const mount = mountIn(bootstrap, kernel)
  const index = under(folder, 'public/index.php')
  const deployment = await readDeployment(project, folder)
  const own = await readSources(
    project,
    project.files
      .map(({ path }) => path)
      .filter((path) => isUnder(under(folder, 'routes'), path) && path.endsWith('.php')),
    'php',
  )
  return assemble({
    folder,
    framework: {
      value: 'laravel',
      at: laravel.at,
      confidence: 'sure',
      detail: 'Laravel is a dependency, and bootstrap/app.php makes the application.',
    },
    variant: laravel.version,
    language: { value: 'php', at: null, confidence: 'sure', detail: 'It is written in PHP.' },
    packageManager: {
      value: 'composer',
      at: { path: under(folder, 'composer.json'), line: 1 },
      confidence: 'sure',
      detail: 'composer.json is there.',
    },
    entry: project.has(index)
      ? {
          value: index,
          at: { path: index, line: 1 },
          confidence: 'sure',
          detail: 'Every request comes in by this file.',
        }
      : {
          value: under(folder, 'artisan'),
          at: placeAt(bootstrap, 0),
          confidence: 'likely',
          detail: 'The application is made here.',
        },
    mount,
    health: healthOf(bootstrap, own) ?? deployment.health,
    port: deployment.port ?? {
      value: 8000,
      at: null,
      confidence: 'likely',
      detail: '"php artisan serve" listens there unless told otherwise.',
    },
    signIn: signIn(dependencies, own),
    integrated: integratedIn([bootstrap, ...(kernel === null ? [] : [kernel])]),
  })
}

type Mount = Clue<string> & { readonly at: { readonly path: string; readonly line: number } }

function mountIn(bootstrap: Source, kernel: Source | null): Mount | null {
  const configured = firstHit(bootstrap, /\bApplication::configure\s*\(/)
  const middleware = firstHit(bootstrap, /->\s*withMiddleware\s*\(/)
  if (configured !== null && middleware !== null) {
    const at = placeAt(bootstrap, bootstrap.code.indexOf('withMiddleware', middleware.index))
    return {
      value: 'withMiddleware',
      at,
      confidence: 'sure',
      detail: 'The middleware of all requests is set here.',
    }
  }
  if (configured !== null)
    return {
      value: 'Application::configure',
      at: placeAt(bootstrap, configured.index),
      confidence: 'likely',
      detail: 'The application is made here; withMiddleware() has to be added to it.',
    }
  const list = kernel === null ? null : firstHit(kernel, /\$middleware\s*=\s*(?:\[|array\s*\()/)
  if (kernel === null || list === null) return null
  return {
    value: '$middleware',
    at: placeAt(kernel, list.index),
    confidence: 'sure',
    detail: 'The middleware of all requests: the first of it sees a request first.',
  }
}

const SIGN_IN: readonly string[] = [
  'laravel/sanctum',
  'laravel/fortify',
  'laravel/socialite',
  'laravel/passport',
  'laravel/jetstream',
  'laravel/breeze',
  'laravel/ui',
  'laravel/workos',
  'tymon/jwt-auth',
  'php-open-source-saver/jwt-auth',
  'socialiteproviders/manager',
  'auth0/login',
]

function signIn(dependencies: Dependencies, routes: readonly Source[]): Clue<string>[] {
  const packages: Clue<string>[] = SIGN_IN.flatMap((name) => {
    // Breeze writes its code into the application and is then only there for developers
    const found = dependencies.get(name)
    return found === undefined || (found.isDev && name !== 'laravel/breeze')
      ? []
      : [{ value: name, at: found.at, confidence: 'likely', detail: 'It is a dependency.' }]
  })
  const routed: Clue<string>[] = routes.flatMap((source) =>
    hits(source, /\bAuth::routes\s*\(/).map(({ index }) => ({
      value: 'Auth::routes',
      at: placeAt(source, index),
      confidence: 'sure',
      detail: 'The routes of its own sign-in.',
    })),
  )
  return [...packages, ...routed]
}
