/** Which of a project's applications people mean: it is offered first. */
import type { Project } from '../project/project.ts'
import type { Application } from './application.ts'
import { folderOf, isAside } from './folders.ts'
import type { Check } from './health-checks.ts'
import { imageIn } from './image.ts'
import { parsedJson, tableIn, textIn } from './manifests/tables.ts'

/**
 * What the image of the whole project is made of goes before what it does not name; then what is not a
 * guess, where that image is exposed or asked for its health, what `npm start` at the root starts, and
 * what is called like the project.
 */
export async function foremostFirst(
  project: Project,
  checks: readonly Check[],
  applications: readonly Application[],
): Promise<Application[]> {
  if (applications.length < 2) return [...applications]
  const image = await imageOf(project)
  const exposed = image === null ? null : imageIn(image, '').port
  const ports = new Set([exposed?.value ?? null, ...checks.map(({ port }) => port)])
  const manifest = tableIn(parsedJson(await project.read('package.json')))
  const start = textIn(tableIn(manifest, 'scripts'), 'start') ?? ''
  const name = textIn(manifest, 'name')
  const rankOf = (application: Application) => {
    const names = namesOf(application)
    const isAt = application.port !== null && ports.has(application.port)
    return [
      application.folder !== '' && image !== null && !names.some((one) => mentions(image, one)),
      application.confidence === 'guess',
      !isAt,
      !names.some((one) => mentions(start, one)),
      name === null || !names.includes(name),
    ].map(Number)
  }
  // those of one folder stay in the order in which its start reaches them
  const names = new Set(applications.map(({ folder }) => folder))
  const folders = [...names].map((folder) => {
    const inside = applications.filter((one) => one.folder === folder)
    const [best = []] = inside.map(rankOf).toSorted(compared)
    return { inside, rank: [...best, depthOf(folder)] }
  })
  return folders.toSorted((a, b) => compared(a.rank, b.rank)).flatMap(({ inside }) => inside)
}

/** `apps/web`, and `@acme/web` as its workspace calls it. */
function namesOf({ folder, findings }: Application): string[] {
  const named = findings.find(({ about }) => about === 'workspace')?.value
  return [folder, named ?? ''].filter((name) => name !== '')
}

const IMAGE = /^(?:docker\/|deploy\/|build\/)?(?:Docker|Container)file$/i

/** The one that is called so without more, at the root or in a folder for it. */
async function imageOf({ files, read }: Project): Promise<string | null> {
  const [path] = files
    .map(({ path }) => path)
    .filter((path) => IMAGE.test(path) && !isAside(path))
    .sort((a, b) => folderOf(a).length - folderOf(b).length)
  return path === undefined ? null : await read(path)
}

function mentions(text: string, name: string): boolean {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(String.raw`(?<![\w@-])${escaped}(?![\w-])`).test(text)
}

const depthOf = (folder: string) => (folder === '' ? 0 : folder.split('/').length)

function compared(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) if (value !== b[index]) return value - (b[index] ?? 0)
  return 0
}
