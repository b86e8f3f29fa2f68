/** Django, Flask and FastAPI: a module of the contract, and the line that mounts it. */
import { PYTHON } from '../../../../../shared/integration/snippets/python.ts'
import type { Application } from '../../detection/application.ts'
import { folderOf, under } from '../../detection/folders.ts'
import { NO_PARTS, shown, together, type Parts } from '../../plan.ts'
import type { Project } from '../../project/project.ts'
import { between, filesEnding, lineOfLastMatch, lineOfMatch, newFile, upTo } from './parts.ts'

const MODULE = 'service_claims'
const REQUIREMENT = 'pyjwt[crypto]'

export async function djangoParts(project: Project, application: Application): Promise<Parts> {
  const entry = application.entry?.path ?? ''
  // modules are found from where manage.py is
  const folder = /(?:^|\/)manage\.py$/.test(entry) ? folderOf(entry) : application.folder
  const path = under(folder, `${MODULE}.py`)
  return together(
    await newFile(project, path, PYTHON['django']?.edge.code ?? '', 'X-Service-Claims'),
    await settingsParts(project, application),
    await requirementParts(project, application),
  )
}

const FIRST = 'Put this first in MIDDLEWARE of the settings, before everything else.'

/** Every settings module with a list of its own. */
async function settingsParts(project: Project, application: Application): Promise<Parts> {
  const code = `    '${MODULE}.ServiceClaims',`
  const parts: Parts[] = []
  for (const path of filesEnding(project, application, /settings\b.*\.py$|(?:^|\/)conf\w*\.py$/)) {
    const text = await project.read(path)
    const line = lineOfMatch(text, /^\s*MIDDLEWARE\s*(?::[^=]+)?=\s*[[(]/)
    if (line === null) continue
    parts.push(text?.includes(`${MODULE}.`) === true ? NO_PARTS : shown(path, line, FIRST, code))
  }
  if (parts.length > 0) return together(...parts)
  return shown(application.entry?.path ?? application.folder, null, FIRST, code)
}

/** The module of the snippet without the application around it. */
export function flaskModule(): string {
  const code = PYTHON['flask']?.edge.code ?? ''
  const handler = between(code, '@app.before_request\n', '\n\n\n@app.get')
  return `${upTo(code, '\n\napp = Flask(__name__)')
    .replace('Run it with: python app.py', 'app.before_request(sign_in), before everything else.')
    .replace(
      'from flask import Flask, g, request',
      'from flask import g, request',
    )}\n\n${handler}\n`
}

export function fastapiModule(): string {
  const code = upTo(PYTHON['fastapi']?.edge.code ?? '', '\n\n\napp = FastAPI()')
  const module = code
    .replace(
      'Run it with: python main.py',
      'app.add_middleware(ServiceClaims), behind all others: what is added last runs first.',
    )
    .replace('import uvicorn\n', '')
    .replace('from fastapi import Depends, FastAPI, Response', 'from fastapi import Response')
    .replace('from fastapi.responses import PlainTextResponse\n', '')
  return `${module}\n`
}

interface MountedModule {
  readonly module: () => string
  /** Of it, and handed to `method`. */
  readonly imported: string
  readonly made: string
  readonly method: string
  readonly text: string
  /** Where that is not right behind the place that makes the application. */
  readonly lineIn?: (text: string | null) => number | null
}

const FLASK: MountedModule = {
  module: flaskModule,
  imported: 'sign_in',
  made: 'Flask',
  method: 'before_request',
  text: 'Import the module, and put this line right after the application is created:',
}

const FASTAPI: MountedModule = {
  module: fastapiModule,
  imported: 'ServiceClaims',
  made: 'FastAPI|Starlette',
  method: 'add_middleware',
  text: 'Import the module, and put this line after every other add_middleware: the last one added runs first.',
  lineIn: (text) => lineOfLastMatch(text, /\.add_middleware\(/),
}

async function moduleParts(
  project: Project,
  application: Application,
  { module, imported, made, method, text: what, lineIn }: MountedModule,
): Promise<Parts> {
  const mount = application.mount ?? application.entry
  const text = mount ? await project.read(mount.path) : null
  const [, blanks = '', name = 'app'] =
    new RegExp(`^(\\s*)(\\w+)(?:\\s*:[^=]+)?\\s*=\\s*(?:\\w+\\.)?(?:${made})\\(`, 'm').exec(
      text ?? '',
    ) ?? []
  const folder = mount === null ? application.folder : folderOf(mount.path)
  const from = await importPath(project, folder, text ?? '')
  const call = `${blanks.replaceAll(/[\r\n]/g, '')}${name}.${method}(${imported})`
  const code = `from ${from} import ${imported}\n\n${call}`
  const isMounted = new RegExp(`import\\b.*\\b${imported}\\b`).test(text ?? '')
  const line = lineIn?.(text) ?? mount?.line ?? null
  return together(
    await newFile(project, under(folder, `${MODULE}.py`), module(), 'X-Service-'),
    isMounted ? NO_PARTS : shown(mount?.path ?? folder, line, what, code),
    await requirementParts(project, application),
  )
}

export const flaskParts = (project: Project, application: Application) =>
  moduleParts(project, application, FLASK)
export const fastapiParts = (project: Project, application: Application) =>
  moduleParts(project, application, FASTAPI)

/** As the file imports its neighbours already. */
async function importPath(project: Project, folder: string, text: string): Promise<string> {
  if (/^\s*from\s+\.[\w.]*\s+import\b/m.test(text)) return `.${MODULE}`
  const name = folder.split('/').at(-1) ?? ''
  if (
    name !== '' &&
    new RegExp(`^\\s*(?:from|import)\\s+${name.replaceAll(/\W/g, '.')}\\.`, 'm').test(text)
  )
    return `${name}.${MODULE}`
  return project.has(under(folder, '__init__.py')) ? `.${MODULE}` : MODULE
}

/** The library that proves the signature, where the project names what it needs. */
async function requirementParts(project: Project, application: Application): Promise<Parts> {
  const { folder, packageManager } = application
  const lists = [
    'requirements.txt',
    'pyproject.toml',
    'Pipfile',
    'setup.py',
    'setup.cfg',
    'requirements/base.txt',
  ]
  const named: string[] = []
  for (const path of lists.flatMap((name) => [under(folder, name), name])) {
    const text = await project.read(path)
    if (text === null) continue
    if (/^[\s"']*pyjwt\b/im.test(text)) return NO_PARTS
    named.push(path)
  }
  switch (packageManager) {
    case 'poetry':
    case 'uv':
    case 'pdm':
      return { ...NO_PARTS, commands: [`${packageManager} add '${REQUIREMENT}'`] }
    case 'pipenv':
      return { ...NO_PARTS, commands: [`pipenv install '${REQUIREMENT}'`] }
    default: {
      const command = { ...NO_PARTS, commands: [`pip install '${REQUIREMENT}'`] }
      const list = named.find((path) => path.endsWith('.txt'))
      if (list === undefined) return command
      const lines = ((await project.read(list)) ?? '').trimEnd().split('\n').length
      const text = 'Add the library that verifies signatures:'
      return together(shown(list, lines, text, REQUIREMENT), command)
    }
  }
}
