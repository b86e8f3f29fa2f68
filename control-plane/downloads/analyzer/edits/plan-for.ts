/** By rules alone, offline: what integrates one application, and what of it a person has to do. */
import type { Application } from '../detection/application.ts'
import type { Plan } from '../plan.ts'
import type { Project } from '../project/project.ts'
import { nodePlan } from './node-plan.ts'
import { isNode } from './notes.ts'
import { otherPlan } from './other-plan.ts'
import type { Wishes } from './wishes.ts'

/** `together`: the applications that are planned at the same time; each tells of itself. */
export function planFor(
  project: Project,
  application: Application,
  wishes: Wishes,
  together: readonly Application[] = [],
): Promise<Plan> {
  return isNode(application)
    ? nodePlan(project, application, wishes, together)
    : otherPlan(project, application, wishes)
}
