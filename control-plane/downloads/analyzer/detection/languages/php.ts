/** Laravel: since version 11 bootstrap/app.php has the middleware, before that app/Http/Kernel.php. */
import type { Project } from '../../project/project.ts'
import { nameOf } from '../folders.ts'
import { joinPaths } from '../health.ts'
import { byName, lineOf } from '../manifests/dependencies.ts'
import { tableIn } from '../manifests/tables.ts'
import type { Language } from '../reader/language.ts'
import { managedBy, manifestsOf, type Part, type Parts } from '../reader/part.ts'
import type { Nesting } from '../reader/routes.ts'
import { hitsAround, stringAt, stringBehind, type Source } from '../source/source.ts'

const BOOTSTRAP = /^bootstrap\/app\.php$/
const KERNEL = /^app\/Http\/Kernel\.php$/

export const PHP: Language = {
  name: 'php',
  title: 'PHP',
  files:
    /^(?:bootstrap\/app|app\/Http\/Kernel|app\/Providers\/RouteServiceProvider|public\/index|routes\/.*|app\/Http\/[Rr]outes\/.*)\.php$/,
  parts: readParts,
  frameworks: [
    {
      name: 'laravel',
      title: 'Laravel',
      packages: [/^laravel\/framework$/],
      // a package for Laravel has it among its dependencies as well, but no application around it
      isNamed: true,
      detail: ['Laravel is a dependency, and bootstrap/app.php makes the application.'],
      made: [{ in: BOOTSTRAP, confidence: 'sure', detail: '' }],
      entry: [
        {
          in: /^public\/index\.php$/,
          confidence: 'sure',
          detail: 'Every request comes in by this file.',
        },
        { in: BOOTSTRAP, confidence: 'likely', detail: 'The application is made here.' },
      ],
      mount: [
        {
          in: BOOTSTRAP,
          beside: /\bApplication::configure\s*\(/,
          code: /(?<=->\s*)withMiddleware\s*\(/,
          value: 'withMiddleware',
          confidence: 'sure',
          detail: 'The middleware of all requests is set here.',
        },
        {
          in: BOOTSTRAP,
          code: /\bApplication::configure\s*\(/,
          value: 'Application::configure',
          confidence: 'likely',
          detail: 'The application is made here; withMiddleware() has to be added to it.',
        },
        {
          in: KERNEL,
          code: /\$middleware\s*=\s*(?:\[|array\s*\()/,
          value: '$middleware',
          confidence: 'sure',
          detail: 'The middleware of all requests: the first of it sees a request first.',
        },
      ],
      routes: [
        // ->withRouting(health: '/up')
        {
          in: BOOTSTRAP,
          calls: /\bhealth\s*:\s*(?=["'])/,
          isForHealth: true,
          detail: "Laravel's own health route.",
        },
        {
          in: /^(?:routes|app\/Http\/[Rr]outes)\//,
          calls:
            /(?:\bRoute::|\$(?:router|route|app)\s*->\s*)(?:(?!prefix)\w+\s*\([^()]*\)\s*->\s*)*(?:get|any|view)\s*\(\s*/,
          nested: [inGroups],
          confidence: 'likely',
        },
      ],
      port: ['deployment'],
      customaryPort: [8000, '"php artisan serve" listens there unless told otherwise.'],
      signIn: {
        packages:
          `laravel/sanctum laravel/fortify laravel/socialite laravel/passport laravel/jetstream
          laravel/breeze laravel/ui laravel/workos tymon/jwt-auth php-open-source-saver/jwt-auth
          socialiteproviders/manager auth0/login`.split(/\s+/),
        // it writes its code into the application and is then only there for developers
        developed: ['laravel/breeze'],
        code: [
          [
            /\bAuth::routes\s*\(/,
            'Auth::routes',
            { in: /^routes\//, detail: 'The routes of its own sign-in.' },
          ],
        ],
      },
      integrated: [{ in: BOOTSTRAP }, { in: KERNEL }],
    },
  ],
}

async function readParts(project: Project): Promise<Parts<Part>> {
  const parts: Part[] = []
  const remarks: string[] = []
  for await (const { path, text, folder } of manifestsOf(project, /(?:^|\/)composer\.json$/)) {
    let manifest: unknown
    try {
      manifest = JSON.parse(text)
    } catch (error) {
      remarks.push(`${path} cannot be read: ${(error as Error).message}.`)
    }
    const ofKey = (key: string, isDev: boolean) =>
      Object.entries(tableIn(manifest, key)).map(([name, version]) => ({
        name,
        version: typeof version === 'string' ? version : null,
        isDev,
        at: { path, line: lineOf(text, name) },
      }))
    const dependencies = byName([...ofKey('require', false), ...ofKey('require-dev', true)])
    parts.push({ folder, dependencies, packageManager: managedBy('composer', path) })
  }
  return { parts, remarks }
}

/**
 * `Route::prefix('v1')->group(function () { … })`, and what stands in front of all of a file: its
 * provider says so, or Laravel itself for routes/api.php.
 */
function inGroups(...[part, { source, index }]: Parameters<Nesting>): ReturnType<Nesting> {
  const around = hitsAround(source, /(?:->|::)\s*group\s*(?=\()/, index)
  const prefixes = around.map(({ index: start, end }) => {
    const until = source.code.indexOf('function', end)
    const from = Math.max(...[';', '{', '}'].map((one) => source.code.lastIndexOf(one, start)))
    return prefixIn(source, from + 1, until === -1 ? end : until)
  })
  const isKnown = !prefixes.includes(null)
  const path = joinPaths(base(), isKnown ? prefixes.join('/') : '')
  return { path, isKnown, above: null }

  function base(): string {
    const file = source.path.split('/').slice(-2).join('/')
    const provided = part.sources
      .filter(({ path }) => path.endsWith('RouteServiceProvider.php'))
      .map((provider) => providedFor(provider, file))
      .find((one) => one !== null)
    if (provided !== undefined) return provided
    if (nameOf(source.path) !== 'api.php') return ''
    const bootstrap = part.sources.find(({ path }) => path.endsWith('bootstrap/app.php'))
    return (bootstrap && stringBehind(bootstrap, /\bapiPrefix\s*:\s*/)) ?? 'api'
  }
}

/** '' where no prefix is given, null where what is given cannot be read. */
function prefixIn(source: Source, from: number, until: number): string | null {
  const head = source.code.slice(from, until)
  for (const given of head.matchAll(/\bprefix\s*\(\s*|["'] *["']\s*=>\s*/g)) {
    const isCall = given[0].startsWith('prefix')
    if (isCall || source.text.startsWith('prefix', from + given.index + 1))
      return stringAt(source, from + given.index + given[0].length)
  }
  return ''
}

/** `Route::middleware('api')->group(base_path('routes/api.php'))`: no more than it says. */
function providedFor(provider: Source, file: string): string | null {
  const at = provider.text.indexOf(file)
  if (at === -1) return null
  const from = Math.max(provider.code.lastIndexOf(';', at), provider.code.lastIndexOf('{', at))
  return prefixIn(provider, from + 1, at)
}
