/** What a manifest says that a project is built on. */
import { lineAt } from '../../syntax/places.ts'
import type { Place } from '../application.ts'

export interface Dependency {
  readonly name: string
  /** As it is written: `>=3.0`, `^11.0`, `v1.9.1`. */
  readonly version: string | null
  readonly at: Place
  /** Only for those who develop it: it says nothing about what runs. */
  readonly isDev: boolean
}

export type Dependencies = ReadonlyMap<string, Dependency>

/** What is needed to run it wins over what is needed to develop it, and the first over the second. */
export function byName(found: readonly Dependency[]): Dependencies {
  const dependencies = new Map<string, Dependency>()
  for (const one of found) {
    const known = dependencies.get(one.name)
    if (known === undefined || (known.isDev && !one.isDev)) dependencies.set(one.name, one)
  }
  return dependencies
}

/** What runs with the application. */
export function needed(dependencies: Dependencies, name: string): Dependency | null {
  const found = dependencies.get(name)
  return found === undefined || found.isDev ? null : found
}

/** The line of the first place where a name stands as a word of its own, `-` and `_` being one. */
export function lineOf(text: string, name: string): number {
  const words = name.split(/[-_.]/).map((word) => word.replaceAll(/[^\w/]/g, '\\$&'))
  const at = text.search(new RegExp(`(?<![\\w-])${words.join('[-_.]')}(?![\\w-])`, 'i'))
  return lineAt(text, at)
}

/** A module of a build by Maven or Gradle, as its own file says it. */
export interface BuildModule {
  readonly path: string
  /** What others call it. */
  readonly name: string
  readonly tool: 'maven' | 'gradle'
  /** `group:artifact` */
  readonly dependencies: readonly Dependency[]
  /** Other modules of the project that it is built on: their artifact, or their folder. */
  readonly own: readonly string[]
  /** Spring Boot itself, however it is named. */
  readonly boot: Dependency | null
}

export const BOOT = 'org.springframework.boot'
