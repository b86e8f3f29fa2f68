/** A module of a build by Maven or Gradle, as its own file says it. */
import type { Dependency } from './dependencies.ts'

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
