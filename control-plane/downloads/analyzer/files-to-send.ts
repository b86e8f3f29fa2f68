/**
 * What a model is to read of a project: the files that have to do with signing in, few and bounded,
 * with secrets masked. Whole files of secrets are never opened. A person sees the list first.
 */
import { isPrivateFile, maskSecrets } from '../../../shared/integration/masking.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { Application } from './detection/application.ts'
import { isUnder, under, within } from './detection/folders.ts'
import { objectIn } from './json.ts'
import type { Project } from './project/project.ts'

interface FileToSend {
  readonly path: string
  /** Masked. */
  readonly text: string
  readonly maskedCount: number
}

export interface Selection {
  readonly files: readonly FileToSend[]
  /** The manifest of the first application on Node, without scripts and settings of tools. */
  readonly packageJson: Readonly<Record<string, unknown>> | null
  /** Fitting files that no room was left for. */
  readonly leftOut: readonly string[]
}

const FILES_MAX = 40
const FILE_CHARACTERS_MAX = Math.min(100_000, LIMITS.analysisFileCharactersMax)
const CHARACTERS_MAX = 400_000

const CODE =
  /\.(?:[cm]?[jt]sx?|py|rb|php|java|kts?|groovy|gradle|cs|go|ya?ml|toml|xml|csproj|properties)$/
const ABOUT_SIGN_IN =
  /(?:^|[/_.-])(?:auth\w*|oauth\w*|log-?in|log-?out|sign-?(?:in|out|up)|sessions?|passport|devise|guards?|middlewares?|security|permissions?|accounts?|users?|jwt|sso|saml|oidc|cookies?|csrf)(?=[/_.-]|[A-Z]|$)/i
const MANIFEST =
  /^(?:package\.json|pyproject\.toml|requirements[\w-]*\.txt|Pipfile|Gemfile|composer\.json|pom\.xml|build\.gradle(?:\.kts)?|go\.mod|.*\.csproj)$/
const TESTS =
  /(?:^|\/)(?:tests?|__tests__|spec|e2e|fixtures?|mocks?|examples?)\/|[._-](?:test|spec)\.\w+$/i

export async function selectFiles(
  project: Project,
  applications: readonly Application[],
): Promise<Selection> {
  const files: FileToSend[] = []
  const leftOut: string[] = []
  let characters = 0
  for (const path of candidates(project, applications)) {
    const text = await project.read(path)
    if (text === null || text.includes('\0') || !text.isWellFormed()) continue
    const { text: masked, hidden } = maskSecrets(text, path)
    const isRoom =
      files.length < FILES_MAX &&
      masked.length <= FILE_CHARACTERS_MAX &&
      characters + path.length + masked.length <= CHARACTERS_MAX
    if (!isRoom) {
      leftOut.push(path)
      continue
    }
    characters += path.length + masked.length
    files.push({ path, text: masked, maskedCount: hidden.length })
  }
  return { files, packageJson: await packageJsonOf(project, applications), leftOut }
}

/** What detection has found comes first, then manifests, then what is named after signing in. */
function candidates(project: Project, applications: readonly Application[]): string[] {
  const found = applications.flatMap(({ entry, mount, findings }) => [
    ...[entry, mount].flatMap((place) => (place === null ? [] : [place.path])),
    ...findings.flatMap(({ about, at }) => (about !== 'port' && at !== null ? [at.path] : [])),
  ])
  const inside = project.files
    .map(({ path }) => path)
    .filter((path) => applications.some(({ folder }) => isUnder(folder, path)))
  const manifests = inside.filter((path) =>
    applications.some(({ folder }) => isUnder(folder, path) && MANIFEST.test(within(folder, path))),
  )
  const named = inside.filter(
    (path) => CODE.test(path) && ABOUT_SIGN_IN.test(path) && !TESTS.test(path),
  )
  const all = new Set([...found, ...manifests, ...named])
  // package.json goes apart from the files, and without its scripts
  return [...all].filter(
    (path) => project.has(path) && !isPrivateFile(path) && !/(?:^|\/)package\.json$/.test(path),
  )
}

const MANIFEST_PARTS = ['name', 'type', 'main', 'module', 'bin', 'workspaces', 'engines', 'packageManager', 'dependencies', 'devDependencies', 'peerDependencies'] // prettier-ignore

async function packageJsonOf(project: Project, applications: readonly Application[]) {
  for (const { folder } of applications) {
    const path = under(folder, 'package.json')
    const manifest = objectIn(await project.read(path))
    if (manifest === null) continue
    const manifestParts = Object.fromEntries(
      Object.entries(manifest).filter(([name]) => MANIFEST_PARTS.includes(name)),
    )
    return objectIn(maskSecrets(JSON.stringify(manifestParts, undefined, 2), path).text)
  }
  return null
}
