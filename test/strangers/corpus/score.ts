/** How much of what is right about an application is found. */
import { WISHES } from '../../control-plane/downloads/analyzer/edits/projects.ts'
import { writePlan } from '../../support/applied.ts'
import { copyOf, faultsOf, lookAt, type Looked } from '../stranger.ts'
import type { Expected } from './expected.ts'

export const ASPECTS = ['framework', 'mount', 'entry', 'port', 'health', 'edit'] as const
export type Aspect = (typeof ASPECTS)[number]

export interface Scored {
  readonly name: string
  /** What is wrong, and what was found instead. */
  readonly wrong: ReadonlyMap<Aspect, string>
}

/** The first that is found counts: it is what a person is offered first. */
export async function scoreOf(
  { name, framework, mount, entries, port, health }: Expected,
  folder: string,
  copy: string,
): Promise<Scored> {
  const [first] = await lookAt(folder, WISHES)
  const found = first?.application
  const at = found?.mount ? `${found.mount.path}:${found.mount.line}` : null
  const isEntry = entries.includes(found?.entry?.path ?? '') || found === undefined
  const wrong = new Map<Aspect, string>()
  if ((found?.framework ?? null) !== framework) wrong.set('framework', String(found?.framework))
  if (at !== mount) wrong.set('mount', String(at))
  if (!isEntry || (found === undefined) !== (framework === null))
    wrong.set('entry', String(found?.entry?.path))
  if ((found?.port ?? null) !== port) wrong.set('port', String(found?.port))
  if ((found?.healthPath ?? null) !== health) wrong.set('health', String(found?.healthPath))
  const faults = first === undefined ? [] : await faultsIn(first, folder, copy)
  if (faults.length > 0) wrong.set('edit', faults.join('; '))
  return { name, wrong }
}

/** An edit is right when it can be written and what it wrote can still be read by Node. */
async function faultsIn({ plan }: Looked, folder: string, copy: string): Promise<string[]> {
  if (plan.edits.length === 0) return []
  copyOf(folder, copy)
  try {
    await writePlan(copy, plan, WISHES.sdkUrl)
    return await faultsOf(copy, plan)
  } catch (error) {
    return [(error as Error).message]
  }
}

export type Score = Readonly<Record<Aspect | 'everything', number>>

export function countRight(scored: readonly Scored[]): Score {
  const right = (aspect: Aspect) => scored.filter(({ wrong }) => !wrong.has(aspect)).length
  const counts = ASPECTS.map((aspect) => [aspect, right(aspect)] as const)
  const everything = scored.filter(({ wrong }) => wrong.size === 0).length
  return { ...(Object.fromEntries(counts) as Record<Aspect, number>), everything }
}

/** A line for each aspect, and one for each application that is not all right. */
export function report(title: string, scored: readonly Scored[]): string[] {
  const counts = Object.entries(countRight(scored)).map(([name, count]) => `${name} ${count}`)
  return [
    `${title}: of ${scored.length} applications right: ${counts.join(', ')}`,
    ...scored
      .filter(({ wrong }) => wrong.size > 0)
      .map(({ name, wrong }) => `${name}: ${[...wrong].map((one) => one.join(' ')).join(', ')}`),
  ]
}
