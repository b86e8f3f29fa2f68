/** All applications of a project, of every ecosystem, and what a person should know beside. */
import type { Project } from '../project/project.ts'
import type { Application, Detection } from './application.ts'
import { DOTNET } from './languages/dotnet.ts'
import { GO } from './languages/go.ts'
import { JAVA } from './languages/java.ts'
import { PHP } from './languages/php.ts'
import { PYTHON } from './languages/python.ts'
import { RUBY } from './languages/ruby.ts'
import { namedOnly } from './named-only.ts'
import { detectNode } from './node/detect-node.ts'
import { readLanguage } from './reader/read-language.ts'

export async function detect(project: Project): Promise<Detection> {
  // what one of them finds says nothing about the others
  const found = await Promise.all([
    detectNode(project),
    readLanguage(project, PYTHON),
    readLanguage(project, RUBY),
    readLanguage(project, PHP),
    readLanguage(project, JAVA),
    readLanguage(project, DOTNET),
    readLanguage(project, GO),
  ])
  return {
    applications: found.flatMap(({ applications }) => applications).sort(byPlace),
    remarks: [
      ...found.flatMap(({ remarks }) => remarks),
      ...(await namedOnly(project)),
      ...remarksOf(project),
    ],
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
