/** Flask and FastAPI: an object is made somewhere, and a server is pointed at it. */
import type { Application } from '../application.ts'
import { assemble, type Clue } from '../assemble.ts'
import { folderOf } from '../folders.ts'
import { integratedIn } from '../integrated.ts'
import { needed } from '../manifests/dependencies.ts'
import { closeOf, hits, placeAt, type Source } from '../source/source.ts'
import { madeIn, startedOnes, type MicroFramework, type Started } from './made.ts'
import type { PythonUnit } from './python-project.ts'
import { healthRoute } from './routes.ts'
import { codeOfSignIn, packagesOfSignIn } from './sign-in.ts'

const FRAMEWORKS: readonly (MicroFramework & { readonly title: string; readonly port: number })[] =
  [
    {
      name: 'fastapi',
      title: 'FastAPI',
      port: 8000,
      imports: /^[ \t]*(?:from|import)\s+fastapi\b/m,
      makes: /(?<![\w.])(?:fastapi\s*\.\s*)?FastAPI\s*\(/,
    },
    {
      name: 'flask',
      title: 'Flask',
      port: 5000,
      imports: /^[ \t]*(?:from|import)\s+(?:flask|apiflask|flask_openapi3|quart_flask_patch)\b/m,
      makes: /(?<![\w.])(?:flask\s*\.\s*)?(?:Flask|APIFlask|OpenAPI)\s*\(/,
    },
  ]

export function microApplications(unit: PythonUnit): Application[] {
  return FRAMEWORKS.flatMap((framework) => {
    const started = startedOnes(unit, madeIn(unit, framework))
    if (started.length > 0)
      return started.map((one) => application(unit, framework, one, started.length > 1))
    return onlyDepended(unit, framework)
  })
}

function application(
  unit: PythonUnit,
  { name, title, port }: (typeof FRAMEWORKS)[number],
  started: Started,
  isOneOfSeveral: boolean,
): Application {
  const { made, entrySource } = started
  const dependency = needed(unit.dependencies, name)
  const files = [entrySource, made.source]
  const mountDetail =
    made.factory === null
      ? `${title} is made here.`
      : `${title} is made here, in ${made.factory}().`
  return assemble({
    folder: isOneOfSeveral ? folderOf(entrySource.path) : unit.folder,
    framework: {
      value: name,
      at: dependency?.at ?? placeAt(made.source, made.index),
      confidence: dependency === null ? 'likely' : 'sure',
      detail:
        dependency === null
          ? `The code makes a ${title} application.`
          : `${title} is a dependency, and the code uses it.`,
    },
    variant: dependency?.version ?? null,
    language: { value: 'python', at: null, confidence: 'sure', detail: 'It is written in Python.' },
    packageManager: unit.packageManager,
    entry: {
      value: started.entry.path,
      at: started.entry,
      confidence: started.entryConfidence,
      detail: 'This file starts it.',
    },
    mount: {
      value: made.variable ?? title,
      at: placeAt(made.source, made.index),
      confidence: started.mountConfidence,
      detail: mountDetail,
    },
    health: healthRoute(unit) ?? unit.deployment.health,
    port: unit.deployment.port ??
      portOfRun(files) ?? {
        value: port,
        at: null,
        confidence: 'likely',
        detail: `${title} is served there unless told otherwise.`,
      },
    signIn: [...packagesOfSignIn(unit), ...codeOfSignIn(unit)],
    integrated: integratedIn([made.source, entrySource, ...unit.sources]),
  })
}

/** No application object: nothing to say of a library, and a guess of anything else. */
function onlyDepended(
  unit: PythonUnit,
  { name, title }: (typeof FRAMEWORKS)[number],
): Application[] {
  const dependency = needed(unit.dependencies, name)
  if (dependency === null || unit.isPackaged || unit.sources.length === 0) return []
  return [
    assemble({
      folder: unit.folder,
      framework: {
        value: name,
        at: dependency.at,
        confidence: 'guess',
        detail: `${title} is a dependency, but where its application is made was not found.`,
      },
      variant: dependency.version,
      language: {
        value: 'python',
        at: null,
        confidence: 'sure',
        detail: 'It is written in Python.',
      },
      packageManager: unit.packageManager,
      entry: null,
      mount: null,
      health: healthRoute(unit),
      port: unit.deployment.port,
      signIn: packagesOfSignIn(unit),
      integrated: integratedIn(unit.sources),
    }),
  ]
}

/** `app.run(port=5001)`, `uvicorn.run(app, port=int(os.environ.get('PORT', 8080)))` */
function portOfRun(files: readonly Source[]): Clue<number> | null {
  for (const source of files)
    for (const { end } of hits(source, /\b(?:run|serve)\s*(?=\()/)) {
      const inside = source.code.slice(end, closeOf(source, end))
      const given = /\bport\s*=\s*/.exec(inside)
      if (given === null) continue
      const start = end + given.index + given[0].length
      const found = numberAt(source, start) ?? assigned(source, start)
      if (found === null) continue
      return {
        value: found.port,
        at: placeAt(source, found.index),
        confidence: found.isFixed ? 'sure' : 'likely',
        detail: found.isFixed
          ? 'The code says so.'
          : 'The code says so, where the environment says nothing.',
      }
    }
  return null
}

function numberAt({ text, code }: Source, start: number) {
  const end = start + code.slice(start).search(/\n|$/)
  const [expression = ''] = /^[^,\n]*(?:,[^,\n]*\)+)?/.exec(text.slice(start, end)) ?? []
  const [, port] = /(?<![\w.])(\d{2,5})(?![\w.])/.exec(expression) ?? []
  return port === undefined
    ? null
    : { port: Number(port), index: start, isFixed: /^\d/.test(expression) }
}

/** `port=port`, with `port = 8080` above. */
function assigned(source: Source, start: number) {
  const [name = ''] = /^\w+(?=\s*[,)])/.exec(source.code.slice(start)) ?? []
  if (name === '') return null
  const hit = hits(source, new RegExp(String.raw`^[ \t]*${name}\s*(?::\s*\w+\s*)?=\s*`, 'm'))[0]
  return hit === undefined ? null : numberAt(source, hit.end)
}
