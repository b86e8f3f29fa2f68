/** What a model is to answer: its schema, in the subset that providers enforce, and its reading. */
import * as v from 'valibot'
import type { GuideEdit } from '../../shared/integration/guide.ts'
import { FRAMEWORKS } from '../../shared/integration/snippets.ts'
import { LIMITS } from '../../shared/limits.ts'

const OTHER = 'other'
const names = [...Object.keys(FRAMEWORKS), OTHER]

const text = (description: string) => ({ type: 'string', description })

/** Every field required and none besides, no bounds: what strict modes have in common. */
export const MODEL_GUIDE_SCHEMA = {
  type: 'object',
  properties: {
    framework: { type: 'string', enum: names },
    summary: text('One or two sentences: what this application is and where it is integrated.'),
    edits: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          path: text('Relative to the project, with "/".'),
          action: { type: 'string', enum: ['create', 'modify'] },
          find: text('modify: text that is in the file exactly once. create: empty.'),
          replace: text('modify: the same text with what is added to it. create: empty.'),
          content: text('create: the whole file. modify: empty.'),
          why: text('One sentence for the developer.'),
        },
        required: ['path', 'action', 'find', 'replace', 'content', 'why'],
        additionalProperties: false,
      },
    },
    notes: { type: 'array', items: text('What the developer should know or do by hand.') },
    warnings: { type: 'array', items: text('What may go wrong, or could not be seen.') },
  },
  required: ['framework', 'summary', 'edits', 'notes', 'warnings'],
  additionalProperties: false,
} as const

const { guideEditsMax, guideTextCharactersMax, guideRemarksMax, guideRemarkCharactersMax } = LIMITS
const Remark = v.pipe(v.string(), v.maxLength(guideRemarkCharactersMax))
const Remarks = v.pipe(v.array(Remark), v.maxLength(guideRemarksMax))
const Text = v.pipe(v.string(), v.maxLength(guideTextCharactersMax))
const Path = v.pipe(v.string(), v.maxLength(LIMITS.guidePathCharactersMax))

const Create = v.strictObject({
  path: Path,
  action: v.literal('create'),
  find: v.literal(''),
  replace: v.literal(''),
  content: Text,
  why: Remark,
})

const Modify = v.strictObject({
  path: Path,
  action: v.literal('modify'),
  find: v.pipe(Text, v.nonEmpty()),
  replace: Text,
  content: v.literal(''),
  why: Remark,
})

const ModelGuideFields = v.strictObject({
  framework: v.picklist(names),
  summary: Remark,
  edits: v.pipe(v.array(v.variant('action', [Create, Modify])), v.maxLength(guideEditsMax)),
  notes: Remarks,
  warnings: Remarks,
})

export interface ModelGuide {
  readonly framework: string
  readonly summary: string
  readonly edits: readonly GuideEdit[]
  readonly notes: readonly string[]
  readonly warnings: readonly string[]
}

type ModelAnswer =
  | { readonly kind: 'guide'; readonly guide: ModelGuide }
  /** `where` is a path of names and numbers, nothing that a model has written. */
  | { readonly kind: 'no_json' }
  | { readonly kind: 'wrong'; readonly where: string }

export function readModelGuide(answer: string): ModelAnswer {
  let value: unknown
  try {
    value = JSON.parse(answer)
  } catch {
    return { kind: 'no_json' }
  }
  const read = v.safeParse(ModelGuideFields, value, { abortEarly: true })
  if (!read.success) return { kind: 'wrong', where: v.getDotPath(read.issues[0]) ?? 'all of it' }
  const { edits, ...rest } = read.output
  return { kind: 'guide', guide: { ...rest, edits: edits.map(toEdit) } }
}

type Answered = v.InferOutput<typeof Create> | v.InferOutput<typeof Modify>

function toEdit({ path, action, find, replace, content, why }: Answered): GuideEdit {
  return action === 'create' ? { path, action, content, why } : { path, action, find, replace, why }
}
