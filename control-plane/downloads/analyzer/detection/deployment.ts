/** What the files beside an application say about how it is started: Dockerfile, Procfile, compose. */
import type { Project } from '../project/project.ts'
import type { Clue } from './assemble.ts'
import { composedFor } from './compose.ts'
import { folderOf, isAside, under } from './folders.ts'
import { imageIn, type Image } from './image.ts'
import { portOf, webCommands, type StartCommand } from './start-commands.ts'
import { startedBy } from './start-files.ts'

export interface Deployment {
  readonly commands: readonly StartCommand[]
  readonly port: Clue<number> | null
  readonly health: Clue<string> | null
}

const FILES = ['Procfile', 'Dockerfile', 'Containerfile'] as const

/** `isAlone`: an image of the project that lies elsewhere is one of this application. */
export async function readDeployment(
  project: Project,
  folder: string,
  isAlone = false,
): Promise<Deployment> {
  const named: StartCommand[] = []
  const images: Image[] = []
  for (const name of FILES) {
    const path = under(folder, name)
    const text = await project.read(path)
    if (text === null) continue
    if (name === 'Procfile')
      for (const { line, command } of webCommands(text))
        named.push({ text: command, at: { path, line } })
    else images.push(imageIn(text, path))
  }
  if (isAlone) images.push(...(await imagesElsewhere(project, folder)))
  const composed = await composedFor(project, folder, isAlone)
  named.push(...images.flatMap(({ commands }) => commands), ...composed.commands)
  const values = new Map(images.toReversed().flatMap((image) => [...image.values]))
  const started = await startedBy(project, named, values)
  const checks = images.flatMap((image) => image.checks)
  const checked = await startedBy(project, checks, values)
  const commands = [...named, ...started.commands]
  const first = <T>(clues: readonly (T | null)[]) => clues.find((clue) => clue !== null) ?? null
  return {
    commands,
    port: first([
      ...commands.map(({ text, at }) => portOf(text, at)),
      started.port,
      ...images.map(({ port }) => port),
      composed.port,
      checked.asked,
    ]),
    health: first([...images.map(({ health }) => health), checked.health, composed.health]),
  }
}

const IMAGES_MAX = 5
const ELSEWHERE = /(?:^|\/)(?:(?:Docker|Container)file(?:\.\w+)?|\w+\.Dockerfile)$/
export const FOR_DEVELOPERS =
  /(?:^|[/.])(?:dev(?:el(?:opment)?)?|tests?|ci|local|debug|\.\w+)(?:[/.]|$)/i

/** Beside other folders, or called after what they are for: `docker/Dockerfile`, `alpine.Dockerfile`. */
async function imagesElsewhere(project: Project, folder: string): Promise<Image[]> {
  const depth = (path: string) => path.split('/').length
  const paths = project.files
    .map(({ path }) => path)
    .filter((path) => ELSEWHERE.test(path) && folderOf(path) !== folder)
    .filter((path) => !isAside(path) && !FOR_DEVELOPERS.test(path))
    .sort((a, b) => depth(a) - depth(b))
    .slice(0, IMAGES_MAX)
  const texts = await Promise.all(paths.map((path) => project.read(path)))
  return texts.map((text, index) => imageIn(text ?? '', paths[index] ?? ''))
}
