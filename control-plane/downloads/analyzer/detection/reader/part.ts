/** A part of a project, which one manifest speaks for, and what was read of it. */
import type { Project } from '../../project/project.ts'
import { lineAt } from '../../syntax/places.ts'
import type { Clue } from '../assemble.ts'
import type { Deployment } from '../deployment.ts'
import { isAside } from '../folders.ts'
import { byName, type Dependencies } from '../manifests/dependencies.ts'
import type { Setting } from '../manifests/settings.ts'
import type { Source } from '../source/source.ts'

export interface Part {
  /** Code below it is its own, but for what lies in the folder of a part further down. */
  readonly folder: string
  /** Those that it inherits as well. */
  readonly dependencies: Dependencies
  readonly packageManager: Clue<string> | null
  /** Where its manifest says so; that of the table, if it does not. */
  readonly language?: Clue<string>
  /** What people call it, where it is one of several. */
  readonly called?: string
  /** Folders of libraries that are built into it. */
  readonly brings?: readonly string[]
  /** Nothing in it is started: its code is not read. */
  readonly isLibrary?: boolean
}

export interface Parts<P extends Part> {
  readonly parts: readonly P[]
  readonly remarks: readonly string[]
}

/** Parts of which no more has to be known than one look at a manifest says. */
export interface PartTable {
  /** Its name; in front of it stands the folder that it speaks for. */
  readonly manifest: RegExp
  readonly manager: string
  /** Group 1 is what people call it. */
  readonly called?: RegExp
  /** Group 1 is the name of a dependency, group 2 its version. */
  readonly dependency?: RegExp
}

export async function partsBy(project: Project, table: PartTable): Promise<Parts<Part>> {
  const { manifest, manager, called, dependency } = table
  const parts: Part[] = []
  for await (const { path, text, folder } of manifestsOf(project, manifest)) {
    const named = dependency === undefined ? [] : [...text.matchAll(new RegExp(dependency, 'gm'))]
    const dependencies = named.map(({ 1: name = '', 2: version = null, index }) => ({
      name,
      version,
      isDev: false,
      at: { path, line: lineAt(text, index) },
    }))
    parts.push({
      folder,
      dependencies: byName(dependencies),
      packageManager: managedBy(manager, path),
      called: called === undefined ? folder : (called.exec(text)?.[1] ?? ''),
    })
  }
  return { parts, remarks: [] }
}

export type ReadPart<P extends Part = Part> = P & {
  readonly sources: readonly Source[]
  readonly settings: readonly Setting[]
  readonly deployment: Deployment
}

/** Each file that a pattern names, with its text and the folder that the name stands in. */
export async function* manifestsOf(project: Project, name: RegExp) {
  for (const { path } of project.files) {
    const found = isAside(path) ? null : name.exec(path)
    const text = found && (await project.read(path))
    if (found !== null && text !== null) yield { path, text, folder: path.slice(0, found.index) }
  }
}

export function managedBy(
  name: string,
  manifest: string,
  detail = `${manifest} is there.`,
): Clue<string> {
  return { value: name, at: { path: manifest, line: 1 }, confidence: 'sure', detail }
}

export function inLanguage(name: string, title: string): Clue<string> {
  return { value: name, at: null, confidence: 'sure', detail: `It is written in ${title}.` }
}
