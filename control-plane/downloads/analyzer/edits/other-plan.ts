/** Languages besides JavaScript: the file of the contract, and the exact place that mounts it. */
import type { Application, FrameworkName } from '../detection/application.ts'
import type { Plan } from '../plan.ts'
import type { Project } from '../project/project.ts'
import { keyPart } from './key-file.ts'
import { notesFor } from './notes.ts'
import { aspnetParts } from './other/csharp.ts'
import { goParts } from './other/go.ts'
import { springParts } from './other/java.ts'
import { NO_PARTS, type Parts, type PartsOf } from './other/parts.ts'
import { laravelParts } from './other/php.ts'
import { djangoParts, fastapiParts, flaskParts } from './other/python.ts'
import { railsParts } from './other/ruby.ts'
import type { Wishes } from './wishes.ts'

const PARTS: Readonly<Partial<Record<FrameworkName, PartsOf>>> = {
  django: djangoParts,
  flask: flaskParts,
  fastapi: fastapiParts,
  rails: railsParts,
  laravel: laravelParts,
  spring: springParts,
  aspnet: aspnetParts,
  go: goParts,
}

export async function otherPlan(
  project: Project,
  application: Application,
  wishes: Wishes,
): Promise<Plan> {
  const { framework } = application
  const empty = { framework, source: { kind: 'rules' } as const, edits: [], commands: [] }
  if (wishes.mode === 'sdk') {
    const place = application.mount ?? application.entry
    const text = `The mode sdk is for applications on Node.js. For this one choose gateway or connector.`
    const path = place?.path ?? application.folder
    return { ...empty, manual: [{ path, line: place?.line ?? null, text, code: null }], notes: [] }
  }
  const parts = await partsOf(project, application)
  const key = await keyPart(project, application.folder, wishes)
  return {
    ...empty,
    edits: [...parts.edits, ...key.edits],
    manual: [...parts.manual, ...key.manual],
    commands: parts.commands,
    notes: [...notesFor(application, wishes), ...key.notes],
  }
}

/** What is not sure is shown whole: its file is then one step more. */
async function partsOf(project: Project, application: Application): Promise<Parts> {
  const parts = (await PARTS[application.framework]?.(project, application)) ?? NO_PARTS
  if (application.confidence !== 'guess') return parts
  const text = 'Add this file, if this is an application that is served.'
  const files = parts.edits.map(({ path, after }) => ({ path, line: null, text, code: after }))
  return { ...parts, edits: [], manual: [...files, ...parts.manual] }
}
