/** All applications of a project, of every ecosystem, and what a person should know beside. */
import type { Project } from '../project/project.ts'
import type { Detection } from './application.ts'
import { foremostFirst } from './foremost.ts'
import { checksOf, withHealthChecks } from './health-checks.ts'
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
  const all = found.flatMap(({ applications }) => applications)
  const checks = await checksOf(project)
  return {
    applications: withHealthChecks(checks, await foremostFirst(project, checks, all)),
    remarks: [
      ...found.flatMap(({ remarks }) => remarks),
      ...(await namedOnly(project, all)),
      ...remarksOf(project),
    ],
  }
}

function remarksOf({ isCut, unread, files }: Project): string[] {
  return [
    ...(isCut
      ? [`Only ${files.length} files were looked at: the project is larger than that.`]
      : []),
    ...unread.map(({ path, reason }) => `${path} ${reason}.`),
  ]
}
