/** The plan of this project: by the guide that the service holds, if there is one, else by the rules. */
import type { EditProblem } from '../../../../shared/integration/edit-rules.ts'
import type { Application } from '../detection/application.ts'
import { connectorNote } from '../edits/notes.ts'
import { planFor } from '../edits/plan-for.ts'
import type { Wishes } from '../edits/wishes.ts'
import { Problem } from '../../command-line/exit.ts'
import { guideCodeProblems, planFromGuide } from '../guide-plan.ts'
import { together, type FileEdit, type Plan } from '../plan.ts'
import type { Project } from '../project/project.ts'
import { plainText, visibleText } from '../../command-line/words.ts'
import type { ServiceAnswer } from './wishes-here.ts'

export async function planHere(
  project: Project,
  applications: readonly Application[],
  { wishes, guide }: ServiceAnswer,
): Promise<Plan> {
  if (guide !== null) return guidedPlan(project, applications, { wishes, guide })
  return ruledPlan(project, applications, wishes)
}

/** A guide is refused as a whole, whatever is wrong with it; nobody falls back to something else. */
async function guidedPlan(
  project: Project,
  applications: readonly Application[],
  { wishes, guide }: Pick<ServiceAnswer, 'wishes' | 'guide'>,
): Promise<Plan> {
  const outcome = await planFromGuide(project, guide, { sdkUrl: wishes.sdkUrl })
  const problems =
    outcome.kind === 'refused' ? outcome.problems : guideCodeProblems(outcome.plan, wishes.baseUrl)
  if (outcome.kind === 'refused' || problems.length > 0)
    throw new Problem(
      'guide_refused',
      'The stored guide was rejected as a whole. Nothing was changed.',
      ...problemLines(problems),
      'To get a new one: service-analyzer analyze --use-ai',
      'To use the built-in rules instead: service-analyzer apply --rules',
    )
  const { plan } = outcome
  const touched = new Set(plan.edits.map(({ path }) => path))
  const isMissing = ({ path }: { readonly path: string }) => BESIDE.test(path) && !touched.has(path)
  const { edits, manual } = await ruledPlan(project, applications, wishes)
  return {
    ...plan,
    edits: [...plan.edits, ...edits.filter(isMissing)],
    manual: [...plan.manual, ...manual.filter(isMissing)],
    notes:
      wishes.mode === 'connector'
        ? [...plan.notes, connectorNote(wishes, applications[0]?.port ?? null)]
        : plan.notes,
  }
}

/** What no guide has to bring along: the package and the keys are ours, and known here. */
const BESIDE = /(?:^|\/)(?:package\.json|service_public\.pem)$/

/** Of several applications: what two of them want of one file must be the same. */
async function ruledPlan(
  project: Project,
  applications: readonly Application[],
  wishes: Wishes,
): Promise<Plan> {
  const plans: Plan[] = []
  for (const application of applications)
    plans.push(await planFor(project, application, wishes, applications))
  const edits = new Map<string, FileEdit>()
  for (const edit of plans.flatMap(({ edits }) => edits)) {
    const known = edits.get(edit.path)
    if (known !== undefined && known.after !== edit.after)
      throw new Problem(
        'edits_refused',
        `Two of these applications need different changes of ${visibleText(edit.path)}.`,
        'Apply and commit them one at a time, each with its own --app.',
      )
    edits.set(edit.path, edit)
  }
  const { manual, commands, notes } = together(...plans)
  return {
    framework: plans.map(({ framework }) => framework).join(', '),
    source: { kind: 'rules' },
    edits: [...edits.values()],
    manual,
    commands: [...new Set(commands)],
    notes: [...new Set(notes)],
  }
}

/** It may have come with the repository: a person says whether it is believed, having seen this. */
export function foreignJournal(would: readonly EditProblem[]): Problem {
  return new Problem(
    'edits_refused',
    'The journal in .service was not written here by you, so it is not trusted. Nothing was changed.',
    ...(would.length === 0 ? [] : ['With it, undo would do this:', ...problemLines(would)]),
    'If you trust it (for example, you wrote it on another machine or moved the project): service-analyzer undo --foreign',
    'Otherwise, delete the folder .service.',
  )
}

export function problemLines(problems: readonly EditProblem[]): string[] {
  return problems.map(({ path, detail }) =>
    path === null ? plainText(detail) : `${visibleText(path)} ${plainText(detail)}`,
  )
}
