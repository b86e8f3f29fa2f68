/** Languages besides JavaScript: the file of the contract, and the exact place that mounts it. */
import type { Application } from '../detection/application.ts'
import type { Plan } from '../plan.ts'
import type { Project } from '../project/project.ts'
import { notesFor } from './notes.ts'
import type { Wishes } from './wishes.ts'

export async function otherPlan(
  _project: Project,
  application: Application,
  wishes: Wishes,
): Promise<Plan> {
  return {
    framework: application.framework,
    source: { kind: 'rules' },
    edits: [],
    manual: [],
    commands: [],
    notes: notesFor(application, wishes),
  }
}
