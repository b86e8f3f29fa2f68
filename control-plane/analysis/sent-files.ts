/** What a customer sends to be analysed: judged, bounded, and without secrets before anybody reads it. */
import { Refusal } from '../../shared/errors.ts'
import { isPrivateFile } from '../../shared/integration/masking.ts'
import { foldedPath, namedPathProblem } from '../../shared/integration/path-rules.ts'
import { maskApart } from './masking-thread.ts'

export interface SentProject {
  /** By path, with secrets masked. */
  readonly files: ReadonlyMap<string, string>
  /** Of package.json what says how the project is built; null: none was sent. */
  readonly manifest: Manifest | null
  readonly characters: number
  /** How many secrets were masked here: the sender had masked what it had found. */
  readonly masked: number
}

interface Manifest {
  readonly packageManager: string
  readonly dependencies: readonly string[]
  /** As it is told to the model, once it is masked. */
  readonly text: string
}

export interface SentBody {
  readonly files: Readonly<Record<string, string>>
  readonly package_json?: Readonly<Record<string, unknown>> | undefined
}

export async function judgeSent(
  body: SentBody,
  charactersMax: number,
  maskAll = maskApart,
): Promise<SentProject> {
  const entries = Object.entries(body.files)
  if (entries.length === 0) throw refusal('must hold at least one file')
  const seen = new Set<string>()
  for (const [path, text] of entries) {
    const problem = pathProblemOf(path) ?? textProblemOf(text)
    if (problem !== null)
      throw refusal(`has ${JSON.stringify(path.slice(0, 200))}, which ${problem}`)
    const folded = foldedPath(path)
    if (seen.has(folded))
      throw refusal(`has ${JSON.stringify(path.slice(0, 200))} in two spellings`)
    seen.add(folded)
  }
  const manifest = body.package_json === undefined ? null : readManifest(body.package_json)
  const characters = entries.reduce(
    (sum, [path, text]) => sum + path.length + text.length,
    manifest?.text.length ?? 0,
  )
  if (characters > charactersMax)
    throw new Refusal(
      'body_too_large',
      { characters_max: charactersMax },
      `The files have ${characters} characters together, and ${charactersMax} are taken: send fewer.`,
    )
  const sent = entries.map(([path, text]) => ({ path, text }))
  // its names are a stranger's words as well
  if (manifest !== null) sent.push({ path: 'package.json', text: manifest.text })
  const masked = await maskAll(sent)
  if (masked === undefined)
    throw refusal('takes too long to search for secrets: send fewer or shorter files')
  const files = new Map(masked.slice(0, entries.length).map(({ path, text }) => [path, text]))
  return {
    files,
    manifest: manifest && { ...manifest, text: masked.at(-1)!.text },
    characters,
    masked: masked.slice(0, entries.length).reduce((sum, { hidden }) => sum + hidden, 0),
  }
}

function pathProblemOf(path: string): string | null {
  return namedPathProblem(path) ?? (isPrivateFile(path) ? 'holds secrets: leave it out' : null)
}

function textProblemOf(text: string): string | null {
  return text.includes('\0') || !text.isWellFormed() ? 'is no text: leave it out' : null
}

function refusal(problem: string): Refusal {
  return new Refusal('field_invalid', { field: 'files' }, `"files" ${problem}.`)
}

const DEPENDENCIES = ['dependencies', 'devDependencies', 'peerDependencies'] as const
const TOLD = ['name', 'type', 'main', 'module', 'bin', 'workspaces', 'engines', ...DEPENDENCIES]

/** Neither scripts nor settings of tools: a model needs none, and secrets hide there. */
function readManifest(manifest: Readonly<Record<string, unknown>>): Manifest {
  const told = Object.fromEntries(Object.entries(manifest).filter(([name]) => TOLD.includes(name)))
  const names = DEPENDENCIES.flatMap((name) => {
    const section = manifest[name]
    return typeof section === 'object' && section !== null ? Object.keys(section) : []
  })
  const { packageManager } = manifest
  return {
    packageManager: typeof packageManager === 'string' ? packageManager : '',
    dependencies: names,
    text: JSON.stringify(told, null, 2),
  }
}
