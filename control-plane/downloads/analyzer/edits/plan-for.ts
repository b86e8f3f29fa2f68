/**
 * By rules alone, offline: what integrates one application, and what of it a person has to do. For
 * languages besides JavaScript: the file of the contract, and the exact place that mounts it.
 */
import { codeFor } from '../../../../shared/integration/snippets.ts'
import type { Application, FrameworkName } from '../detection/application.ts'
import { NO_PARTS, shown, together, type FileEdit, type Parts, type Plan } from '../plan.ts'
import type { Project } from '../project/project.ts'
import { keyPart } from './key-file.ts'
import { nodeParts } from './node-plan.ts'
import { isNode, notesFor } from './notes.ts'
import { aspnetParts } from './other/csharp.ts'
import { goParts } from './other/go.ts'
import { springParts } from './other/java.ts'
import { laravelParts } from './other/php.ts'
import { djangoParts, fastapiParts, flaskParts } from './other/python.ts'
import { railsParts } from './other/ruby.ts'
import type { Wishes } from './wishes.ts'

type PartsOf = (project: Project, application: Application) => Promise<Parts>

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

/** `others`: the applications that are planned at the same time; each tells of itself. */
export async function planFor(
  project: Project,
  application: Application,
  wishes: Wishes,
  others: readonly Application[] = [],
): Promise<Plan> {
  const parts = isNode(application)
    ? await nodeParts(project, application, wishes, others)
    : await otherParts(project, application, wishes)
  const edits = parts.edits.map((edit) => behindLink(project, edit))
  return { framework: application.framework, source: { kind: 'rules' }, ...parts, edits }
}

/** Nothing is written through a link: what it points at is edited, if that is a file like others. */
function behindLink(project: Project, edit: FileEdit): FileEdit {
  const linkTo = project.files.find(({ path }) => path === edit.path)?.linkTo
  return linkTo !== undefined && project.has(linkTo) ? { ...edit, path: linkTo } : edit
}

async function otherParts(
  project: Project,
  application: Application,
  wishes: Wishes,
): Promise<Parts> {
  const { mount, entry, folder } = application
  if (wishes.mode === 'sdk') {
    const place = mount ?? entry
    const text = `The sdk mode only supports Node.js applications. Choose gateway or connector for this one.`
    return shown(place?.path ?? folder, place?.line ?? null, text, null)
  }
  return together(
    notesFor(application, wishes),
    named(await pastedParts(project, application), application.framework, wishes),
    await keyPart(project, folder, wishes),
  )
}

/** What is pasted starts with nothing set. */
function named(parts: Parts, framework: FrameworkName, wishes: Wishes): Parts {
  const code = (text: string) => codeFor(framework, text, wishes)
  return {
    ...parts,
    edits: parts.edits.map((edit) => ({ ...edit, after: code(edit.after) })),
    manual: parts.manual.map((step) => ({ ...step, code: step.code && code(step.code) })),
  }
}

/** What is not sure is shown whole: its file is then one step more. */
async function pastedParts(project: Project, application: Application): Promise<Parts> {
  const parts = (await PARTS[application.framework]?.(project, application)) ?? NO_PARTS
  if (application.confidence !== 'guess') return parts
  const text = 'Add this file if this application serves requests.'
  const files = parts.edits.map(({ path, after }) => ({ path, line: null, text, code: after }))
  return { ...parts, edits: [], manual: [...files, ...parts.manual] }
}
