/**
 * What a language is to the reader: a table of which manifests speak for a part of a project, which files
 * are its code, and what in them means which fact. A further language is a further table.
 */
import type { Project } from '../../project/project.ts'
import type { Confidence, FrameworkName, Place } from '../application.ts'
import type { Clue } from '../assemble.ts'
import type { SettingRule } from '../manifests/settings.ts'
import type { Source } from '../source/source.ts'
import type { Part, Parts, PartTable, ReadPart } from './part.ts'
import type { RouteRule } from './routes.ts'
import type { PlaceRule } from './rules.ts'

/** `deployment`: what Dockerfile, Procfile, compose file and what they start say. */
export type PortRule = 'deployment' | 'configured' | NumberRule | SettingRule

/** The number in what stands behind the code: group 1 of `reads`. */
interface NumberRule {
  readonly in?: RegExp
  readonly code: RegExp
  readonly reads: RegExp
  readonly confidence: Confidence
  readonly detail: string
}

/** An application that was found: what is said here goes before what the rules say. */
export interface Found<P extends Part> {
  readonly part: ReadPart<P>
  readonly folder?: string
  readonly framework?: Clue<FrameworkName>
  readonly variant?: string
  readonly language?: Clue<string>
  /** The value says what stands there. */
  readonly entry?: Clue<string>
  readonly mount?: Clue<string> | null
  readonly health?: Clue<string> | null
  readonly port?: Clue<number> | null
  /** Beside those that the rules find. */
  readonly signIn?: readonly Clue<string>[]
  readonly integrated?: Place | null
  readonly made: Pick<Clue<string>, 'at' | 'detail'>
  /** In which the rules look; all of its part, if it is not said. */
  readonly sources?: readonly Source[]
}

/** What signs people in already: what the code does is sure, what a manifest only names is likely. */
export interface SignInTable {
  /** By their name in the manifest, and what it is called here; its own name, if it is not said. */
  readonly packages?: readonly (readonly [RegExp, string] | string)[]
  /** Those that count although they are there for developers alone. */
  readonly developed?: readonly string[]
  /** What it is called, and what else its rule says. */
  readonly code?: readonly (readonly [RegExp, string, Partial<PlaceRule>?])[]
}

export interface Framework<P extends Part = Part> {
  readonly name: FrameworkName
  readonly title: string
  /** Names of the dependency that it is; the first that is needed gives place and version. */
  readonly packages: readonly RegExp[]
  /** Without the dependency it is none, whatever the code reads like. */
  readonly isNamed?: true
  /** `%` stands for what the rule that found it says. */
  readonly detail: readonly [named: string, unnamed?: string]
  /** What the code reads like where it is made, what follows that through files, or no code at all. */
  readonly made: readonly PlaceRule[] | 'manifest' | ((reading: Reading<P>) => readonly Found<P>[])
  readonly entry?: readonly PlaceRule[]
  readonly mount?: readonly PlaceRule[]
  readonly routes?: readonly RouteRule[]
  readonly port: readonly PortRule[]
  /** Where it listens unless told otherwise, and how that is said. */
  readonly customaryPort?: readonly [number, detail: string]
  readonly signIn?: SignInTable
  /** What the middleware of the contract reads like where it is mounted; files in this order. */
  readonly integrated?: readonly Pick<PlaceRule, 'in' | 'code'>[]
}

/** All that was read; an application may be made of several parts. */
export interface Reading<P extends Part> {
  readonly parts: readonly ReadPart<P>[]
  readonly remarks: string[]
}

export interface Language<P extends Part = Part> {
  readonly name: string
  /** As people say it: `Java and Kotlin`. */
  readonly title: string
  /** Its code, by the path within the part. */
  readonly files: RegExp
  /** What is only shown or tested, by the path within the project; `isAside()` if it is not said. */
  readonly isAside?: (path: string) => boolean
  /** Settings files by their path within the part: what stands in the first goes before the others. */
  readonly settings?: readonly string[]
  readonly parts: PartTable | ((project: Project) => Promise<Parts<P>>)
  /** What is said of a part, where there are several. */
  readonly several?: string
  readonly frameworks: readonly Framework<P>[]
}
