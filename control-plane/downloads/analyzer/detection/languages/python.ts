/** Python: Django, Flask and FastAPI, in as many parts as a project has manifests. */
import type { Project } from '../../project/project.ts'
import { clue, type Clue } from '../assemble.ts'
import { folderOf, isAside, under, upwards } from '../folders.ts'
import { byName, needed } from '../manifests/dependencies.ts'
import { PYTHON_LOCKS, PYTHON_MANIFEST, readPythonManifest } from '../manifests/python.ts'
import type { PythonManifest } from '../manifests/python.ts'
import type { Found, Framework, Language } from '../reader/language.ts'
import { managedBy, manifestsOf, type Parts, type ReadPart } from '../reader/part.ts'
import { closeOf, firstHit, hits, placeAt, type Source } from '../source/source.ts'
import { djangoStarts } from './django.ts'
import { madeIn, startedOnes, type Started } from './python-made.ts'
import type { PythonPart } from './python-modules.ts'
import { onRouter } from './python-routes.ts'
import { packagesOfSignIn } from './python-sign-in.ts'

const USED = { confidence: 'likely', detail: 'The code uses it.' } as const

/** An object is made somewhere, and a server is pointed at it. */
const micro = (
  name: 'fastapi' | 'flask',
  title: string,
  port: number,
  imports: RegExp,
  classes: readonly string[],
): Framework<PythonPart> => ({
  name,
  title,
  packages: [new RegExp(`^${name}$`)],
  detail: [
    `${title} is a dependency, and the code uses it.`,
    `The code makes a ${title} application.`,
  ],
  made: ({ parts }) =>
    parts.flatMap((part) => {
      const started = startedOnes(part, madeIn(part, imports, name, classes))
      if (started.length === 0) return onlyDepended(part, name, title)
      return started.map((one) => foundOf(part, one, title, started.length > 1))
    }),
  routes: [
    {
      calls:
        /(\w+)\s*\.\s*(?:get|head|route|api_route|add_api_route|add_url_rule|add_route)\s*\(\s*(?:rule\s*=\s*|path\s*=\s*)?/,
      nested: [onRouter],
    },
  ],
  port: ['deployment', 'configured'],
  customaryPort: [port, `${title} is served there unless told otherwise.`],
  signIn: {
    code: [
      [
        /\bOAuth2(?:PasswordBearer|AuthorizationCodeBearer)\s*\(|\bHTTP(?:Bearer|Basic)\s*\(/,
        'fastapi.security',
        USED,
      ],
      [/\bSessionMiddleware\b(?=\s*[,)])/, 'starlette sessions', USED],
      [
        /^from\s+flask\s+import\s+(?:\([^)]*|[^\n]*)\bsession\b|\bflask\s*\.\s*session\b/m,
        'flask sessions',
        USED,
      ],
    ],
  },
})

export const PYTHON: Language<PythonPart> = {
  name: 'python',
  title: 'Python',
  files: /\.py$/,
  isAside: (path) =>
    isAside(path) ||
    /(?:^|\/)(?:test_[^/]*|[^/]*_test|tests|conftest|setup|noxfile)\.py$/.test(path),
  parts: readParts,
  frameworks: [
    {
      name: 'django',
      title: 'Django',
      packages: [/^django$/],
      detail: ['Django is a dependency, and the code starts it.', 'The code imports Django.'],
      made: ({ parts }) => parts.flatMap(djangoStarts),
      port: ['deployment'],
      customaryPort: [8000, 'Django and Gunicorn listen there unless told otherwise.'],
    },
    micro('fastapi', 'FastAPI', 8000, /^[ \t]*(?:from|import)\s+fastapi\b/m, ['FastAPI']),
    micro(
      'flask',
      'Flask',
      5000,
      /^[ \t]*(?:from|import)\s+(?:flask|apiflask|flask_openapi3|quart_flask_patch)\b/m,
      ['Flask', 'APIFlask', 'OpenAPI'],
    ),
  ],
}

async function readParts(project: Project): Promise<Parts<PythonPart>> {
  if (!project.files.some(({ path }) => path.endsWith('.py') && !isAside(path)))
    return { parts: [], remarks: [] }
  // what lies in no part of the project lies in the root
  const manifests = new Map<string, PythonManifest[]>([['', []]])
  for await (const { path, text, folder } of manifestsOf(project, PYTHON_MANIFEST)) {
    // a module may be called that as well
    if (path.endsWith('setup.py') && !/(?<!def )\bsetup\s*\(/.test(text)) continue
    const own = readPythonManifest(text, path, folder)
    manifests.set(folder, [...(manifests.get(folder) ?? []), own])
  }
  const parts: PythonPart[] = []
  for (const [folder, own] of manifests) {
    // what a whole repository needs is needed by its parts
    const around = upwards(folder).flatMap((folder) => manifests.get(folder) ?? [])
    const flaskenv = await project.read(under(folder, '.flaskenv'))
    parts.push({
      folder,
      dependencies: byName(around.flatMap(({ dependencies }) => dependencies)),
      packageManager: managerOf(project, folder, own, around.length > 0),
      isPackaged: own.some(({ isPackaged = false }) => isPackaged),
      scripts: [...own.flatMap(({ scripts = [] }) => scripts), flaskenv ?? ''],
    })
  }
  const remarks = [...manifests.values()]
    .flat()
    .flatMap(({ path, problem }) => (problem ? [`${path} cannot be read: ${problem}.`] : []))
  return { parts, remarks }
}

function managerOf(
  project: Project,
  folder: string,
  own: readonly PythonManifest[],
  hasManifest: boolean,
): Clue<string> | null {
  const locks = upwards(folder).flatMap((around) =>
    Object.entries(PYTHON_LOCKS).map(([file, manager]) => ({ path: under(around, file), manager })),
  )
  const { path, manager } =
    locks.find(({ path }) => project.has(path)) ??
    own.find(({ manager }) => manager !== undefined) ??
    {}
  if (path !== undefined && manager !== undefined)
    return managedBy(manager, path, `${path} is written by it.`)
  if (!hasManifest) return null
  return clue('pip', null, 'likely', 'No lock of another one is there.')
}

function foundOf(
  part: ReadPart<PythonPart>,
  started: Started,
  title: string,
  isOneOfSeveral: boolean,
): Found<PythonPart> {
  const { made, entry, entrySource, entryConfidence, mountConfidence } = started
  const at = placeAt(made.source, made.index)
  const port = part.deployment.port ?? portOfRun([entrySource, made.source], part.sources)
  const inFactory = made.factory === null ? '' : `, in ${made.factory}()`
  return {
    part,
    folder: isOneOfSeveral ? folderOf(entrySource.path) : part.folder,
    made: { at, detail: '' },
    sources: [...new Set([made.source, entrySource, ...part.sources])],
    entry: clue(entry.path, entry, entryConfidence, 'This file starts it.'),
    mount: clue(made.variable ?? title, at, mountConfidence, `${title} is made here${inFactory}.`),
    ...(port && { port }),
    signIn: packagesOfSignIn(part),
  }
}

/** No application object: nothing to say of a library, and a guess of anything else. */
function onlyDepended(
  part: ReadPart<PythonPart>,
  name: 'fastapi' | 'flask',
  title: string,
): Found<PythonPart>[] {
  const dependency = needed(part.dependencies, name)
  if (dependency === null || part.isPackaged || part.sources.length === 0) return []
  const { at } = dependency
  const detail = `${title} is a dependency, but where its application is made was not found.`
  return [
    {
      part,
      made: { at, detail },
      framework: { value: name, at, confidence: 'guess', detail },
      port: part.deployment.port,
      signIn: packagesOfSignIn(part),
    },
  ]
}

/** `app.run(port=5001)`, `uvicorn.run(app, port=int(os.environ.get('PORT', 8080)))` */
function portOfRun(files: readonly Source[], sources: readonly Source[]): Clue<number> | null {
  for (const source of files)
    for (const { end } of hits(source, /\b(?:run|serve)\s*(?=\()/)) {
      const given = /\bport\s*=\s*/.exec(source.code.slice(end, closeOf(source, end)))
      if (given === null) continue
      const start = end + given.index + given[0].length
      const found =
        numberAt(source, start) ?? assigned(source, start) ?? setting(sources, source, start)
      if (found !== null) return found
    }
  return null
}

function numberAt(source: Source, start: number): Clue<number> | null {
  const { text, code } = source
  const end = start + code.slice(start).search(/\n|$/)
  const [expression = ''] = /^[^,\n]*(?:,[^,\n]*\)+)?/.exec(text.slice(start, end)) ?? []
  const [, port] = /(?<![\w.])(\d{2,5})(?![\w.])/.exec(expression) ?? []
  if (port === undefined) return null
  const at = placeAt(source, start)
  return /^\d/.test(expression)
    ? clue(Number(port), at, 'sure', 'The code says so.')
    : clue(Number(port), at, 'likely', 'The code says so, where the environment says nothing.')
}

/** `port=settings.API_PORT`: a number that one class of settings gives that name. */
function setting(sources: readonly Source[], source: Source, start: number): Clue<number> | null {
  const [, name] = /^(?:\w+\.)+(\w+)\s*[,)]/.exec(source.code.slice(start)) ?? []
  if (name === undefined) return null
  const given = new RegExp(
    String.raw`^[ \t]+${name}\s*(?::\s*[\w[\] |]+\s*)?=\s*(\d{2,5})\s*$`,
    'm',
  )
  const found = sources.flatMap((one) => {
    const hit = firstHit(one, given)
    return hit === null ? [] : [{ port: Number(hit.match[1]), at: placeAt(one, hit.end - 1) }]
  })
  const [first] = found
  if (first === undefined || found.length > 1) return null
  return clue(
    first.port,
    first.at,
    'likely',
    'The settings say so, where the environment says nothing.',
  )
}

/** `port=port`, with `port = 8080` above. */
function assigned(source: Source, start: number): Clue<number> | null {
  const [name = ''] = /^\w+(?=\s*[,)])/.exec(source.code.slice(start)) ?? []
  if (name === '') return null
  const given = new RegExp(String.raw`^[ \t]*${name}\s*(?::\s*\w+\s*)?=\s*`, 'm')
  const hit = firstHit(source, given)
  return hit && numberAt(source, hit.end)
}
