/** How much of what is right about an application is found. */
import { WISHES } from '../../control-plane/downloads/analyzer/edits/projects.ts'
import { lookAt } from '../stranger.ts'
import { editVerdict } from './edit-verdict.ts'
import type { Expected } from './expected.ts'

export const ASPECTS = ['framework', 'mount', 'entry', 'port', 'health', 'edit'] as const
export type Aspect = (typeof ASPECTS)[number]

export interface Scored {
  readonly name: string
  /** What is wrong, and what was found instead. */
  readonly wrong: ReadonlyMap<Aspect, string>
  /** null: there is nothing to edit, or what is done about it is wrong. */
  readonly edit: 'written' | 'shown' | null
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
  const verdict = first && (await editVerdict(first, folder, copy))
  if (verdict?.kind === 'wrong') wrong.set('edit', verdict.why)
  else if (verdict === undefined && framework !== null) wrong.set('edit', 'nothing was found')
  return {
    name,
    wrong,
    edit: verdict === undefined || verdict.kind === 'wrong' ? null : verdict.kind,
  }
}

export type Score = Readonly<Record<Aspect | 'written' | 'shown' | 'everything', number>>

export function countRight(scored: readonly Scored[]): Score {
  const right = (aspect: Aspect) => scored.filter(({ wrong }) => !wrong.has(aspect)).length
  const counts = ASPECTS.map((aspect) => [aspect, right(aspect)] as const)
  const everything = scored.filter(({ wrong }) => wrong.size === 0).length
  const edited = (kind: Scored['edit']) => scored.filter(({ edit }) => edit === kind).length
  return {
    ...(Object.fromEntries(counts) as Record<Aspect, number>),
    written: edited('written'),
    shown: edited('shown'),
    everything,
  }
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
