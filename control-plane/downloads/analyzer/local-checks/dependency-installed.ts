/** Whether what the middleware is made of is named by the project, and there. */
import { join } from 'node:path'
import { type CheckResult, resultsOf } from '../../../../shared/integration/check-result.ts'
import { VERSION } from '../../../../shared/version.ts'
import { installCommand } from '../edits/install-command.ts'
import { under, upwards } from '../detection/folders.ts'
import { PACKAGE } from '../edits/import-line.ts'
import { filesEnding } from '../edits/other/parts.ts'
import { packageOf } from '../edits/node-sources.ts'
import { objectIn } from '../json.ts'
import { readText } from '../project/read-text.ts'
import { isNode } from '../edits/notes.ts'
import { packageFolder, type LocalCheck, type LookedAt } from './looked-at.ts'

const { fail, pass, skip, warn } = resultsOf('dependency_installed')
const MANIFEST_BYTES_MAX = 64 * 1024

interface Wanted {
  readonly name: string
  readonly manifests: RegExp
  readonly isNamed: RegExp
  readonly install: string
}

const PYTHON: Wanted = {
  name: 'PyJWT',
  manifests:
    /(?:^|\/)(?:requirements[\w.-]*\.(?:txt|in)|pyproject\.toml|Pipfile|setup\.(?:py|cfg))$/,
  isNamed: /\bpyjwt\b/i,
  install: "pip install 'pyjwt[crypto]', and add it to the requirements",
}

/** What the snippets of the contract import; the others need nothing but their framework. */
const WANTED: Readonly<Record<string, Wanted>> = {
  django: PYTHON,
  flask: PYTHON,
  fastapi: PYTHON,
  rails: {
    name: 'jwt',
    manifests: /(?:^|\/)Gemfile(?:\.lock)?$/,
    isNamed: /\bgem\s+['"]jwt['"]|^\s+jwt \(/m,
    install: 'bundle add jwt',
  },
  laravel: {
    name: 'guzzlehttp/guzzle',
    manifests: /(?:^|\/)composer\.(?:json|lock)$/,
    isNamed: /["']guzzlehttp\/guzzle["']|["']laravel\/framework["']/,
    install: 'composer require guzzlehttp/guzzle',
  },
}

export const dependencyInstalled: LocalCheck = async (at) =>
  isNode(at.application) ? ofNode(at) : ofOthers(at)

async function ofNode(at: LookedAt): Promise<CheckResult> {
  const { project, application, world } = at
  const packageManager = application.packageManager ?? 'npm'
  const addWord = packageManager === 'npm' ? 'install' : 'add'
  const add = `${packageManager} ${addWord} ${world.baseUrl}/api/v1/sdk/node`
  const folder = packageFolder(at)
  const { manifestPath, dependencies } = await packageOf(project, { ...application, folder })
  if (!dependencies.has(PACKAGE))
    return fail(`${manifestPath ?? 'package.json'} does not list ${PACKAGE}.`, add)
  const version = await installedVersion(at)
  if (version === null && project.has('.pnp.cjs'))
    return pass(`${PACKAGE} is listed; with Plug'n'Play, whether it is installed is not checked.`)
  if (version === null)
    return fail(
      `${PACKAGE} is listed in ${manifestPath ?? 'package.json'}, but not installed.`,
      installCommand(project, application),
    )
  if (version !== VERSION)
    return warn(`${PACKAGE} ${version} is installed, but the service has ${VERSION}.`, add)
  return pass(`${PACKAGE} ${version} is installed.`)
}

/** As Node looks for it: in the application's own folder, then in those above it. */
async function installedVersion(at: LookedAt): Promise<string | null> {
  const { project } = at
  for (const folder of upwards(packageFolder(at))) {
    const path = under(folder, `node_modules/${PACKAGE}/package.json`)
    try {
      const { text } = await readText(project.root, join(path), MANIFEST_BYTES_MAX)
      const version = objectIn(text)?.['version']
      if (typeof version === 'string' && /^\d[\w.+-]{0,63}$/.test(version)) return version
    } catch {
      // the folder above
    }
  }
  return null
}

async function ofOthers({ project, application }: LookedAt): Promise<CheckResult> {
  const wanted = WANTED[application.framework]
  if (wanted === undefined) return skip('The code to paste only needs the framework.')
  const manifests = filesEnding(project, application, wanted.manifests)
  for (const path of manifests)
    if (wanted.isNamed.test((await project.read(path)) ?? ''))
      return pass(`${path} lists ${wanted.name}.`)
  const [first] = manifests
  const where = first === undefined ? 'No manifest' : `None of the manifests (${first} …)`
  return fail(`${where} lists ${wanted.name}, which the code to paste imports.`, wanted.install)
}
