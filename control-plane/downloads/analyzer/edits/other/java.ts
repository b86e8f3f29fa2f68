/** Spring Boot: a filter in the package of the application, which finds it there by itself. */
import { JAVA } from '../../../../../shared/integration/snippets/java.ts'
import type { Application } from '../../detection/application.ts'
import { folderOf, under } from '../../detection/folders.ts'
import { NO_PARTS, shown, type Parts } from '../../plan.ts'
import type { Project } from '../../project/project.ts'
import { filesEnding, newFile } from './parts.ts'

const FILTER = 'ServiceClaimsFilter'

export async function springParts(project: Project, application: Application): Promise<Parts> {
  const snippet = JAVA['spring']?.edge
  if (snippet === undefined) return NO_PARTS
  const main = await mainClass(project, application)
  if (main === null) {
    const text = 'Put the filter in the package of your application class:'
    return shown(under(application.folder, snippet.file), null, text, snippet.code)
  }
  const code = snippet.code.replace('package com.example.demo;', `package ${main.package};`)
  const path = under(folderOf(main.path), `${FILTER}.java`)
  if (filesEnding(project, application, new RegExp(`/${FILTER}\\.java$`)).length > 0)
    return NO_PARTS
  const problem = await reasonAgainst(project, application, main.path)
  if (problem === null) return newFile(project, path, code, FILTER)
  const text = `Put the filter next to your application class. Not done automatically because ${problem}.`
  return shown(path, null, text, code)
}

async function mainClass(project: Project, application: Application) {
  const named = [application.mount?.path, application.entry?.path].filter(
    (path) => path !== undefined,
  )
  const paths = [...named, ...filesEnding(project, application, /\.(?:java|kt)$/)]
  for (const path of paths.slice(0, 2000)) {
    const text = (await project.read(path)) ?? ''
    const found = /^\s*package\s+([\w.]+)/m.exec(text)?.[1]
    if (found !== undefined && /@SpringBootApplication\b/.test(text))
      return { path, package: found }
  }
  return null
}

/** It would not compile, and break the build. */
async function reasonAgainst(
  project: Project,
  application: Application,
  main: string,
): Promise<string | null> {
  if (!main.endsWith('.java')) return 'the application is not written in Java'
  const { folder, variant } = application
  const builds = ['pom.xml', 'build.gradle', 'build.gradle.kts'].map((name) => under(folder, name))
  const texts = await Promise.all(builds.map((path) => project.read(path)))
  const text = texts.filter((one) => one !== null).join('\n')
  if (!/spring-boot-starter-web(?:mvc)?\b/.test(text))
    return 'it does not depend on spring-boot-starter-web'
  const major = Number(/^\D*(\d+)\./.exec(variant ?? '')?.[1] ?? NaN)
  if (!(major >= 3)) return 'it needs Spring Boot 3 or later, which could not be confirmed'
  return null
}
