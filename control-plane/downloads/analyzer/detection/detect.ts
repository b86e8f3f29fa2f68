/** All applications of a project, of every ecosystem, and what a person should know beside. */
import type { Project } from '../project/project.ts'
import type { Application, Detection } from './application.ts'
import { detectDotnet } from './dotnet/detect-dotnet.ts'
import { detectGo } from './go/detect-go.ts'
import { detectJava } from './java/detect-java.ts'
import { detectNode } from './node/detect-node.ts'
import { detectPhp } from './php/detect-php.ts'
import { detectPython } from './python/detect-python.ts'
import { detectRuby } from './ruby/detect-ruby.ts'

type Detector = (project: Project) => Promise<Detection>

/** Of the languages; what one of them finds says nothing about the others. */
const DETECTORS: readonly Detector[] = [
  detectNode,
  detectPython,
  detectRuby,
  detectPhp,
  detectJava,
  detectDotnet,
  detectGo,
]

export async function detect(project: Project): Promise<Detection> {
  const found = await Promise.all(DETECTORS.map((detector) => detector(project)))
  return {
    applications: found.flatMap(({ applications }) => applications).sort(byPlace),
    remarks: [...found.flatMap(({ remarks }) => remarks), ...remarksOf(project)],
  }
}

function byPlace(a: Application, b: Application): number {
  const [left, right] = [a, b].map(({ folder, entry }) => `${folder}\0${entry?.path ?? ''}`)
  return left === right ? 0 : (left ?? '') < (right ?? '') ? -1 : 1
}

function remarksOf({ isCut, unread, files }: Project): string[] {
  return [
    ...(isCut
      ? [`Only ${files.length} files were looked at: the project is larger than that.`]
      : []),
    ...unread.map(({ path, reason }) => `${path} ${reason}.`),
  ]
}
