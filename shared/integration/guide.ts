/**
 * A guide: the edits that integrate one project. Who wrote it does not matter: the same rules hold
 * where it is stored, where it is shown and where it is written into a project (`edit-rules.ts`).
 */
import * as v from 'valibot'
import { LIMITS } from '../limits.ts'
import { textProblem } from './text-rules.ts'

const { guideEditsMax, guideTextCharactersMax, guideRemarkCharactersMax, guideRemarksMax } = LIMITS

const Path = v.pipe(v.string(), v.nonEmpty(), v.maxLength(LIMITS.guidePathCharactersMax))
const Text = v.pipe(v.string(), v.maxLength(guideTextCharactersMax))
/** A person reads it at a terminal, and may copy it to a shell. */
const Remark = v.pipe(
  v.string(),
  v.maxLength(guideRemarkCharactersMax),
  v.check(
    (text) => textProblem(null, text) === null,
    'Invalid text: characters that cannot be seen',
  ),
)
const Remarks = v.pipe(v.array(Remark), v.maxLength(guideRemarksMax))

/** A file that is not there yet, whole. */
const Create = v.strictObject({
  path: Path,
  action: v.literal('create'),
  content: Text,
  why: v.optional(Remark, ''),
})

/** One place of a file that is there: `find` occurs in it exactly once. */
const Modify = v.strictObject({
  path: Path,
  action: v.literal('modify'),
  find: v.pipe(Text, v.nonEmpty()),
  replace: Text,
  why: v.optional(Remark, ''),
})

export const GuideEdit = v.variant('action', [Create, Modify])
export type GuideEdit = v.InferOutput<typeof GuideEdit>

export const Guide = v.object({
  guide_id: v.pipe(v.string(), v.regex(/^[\w.-]{1,128}$/)),
  framework: v.pipe(v.string(), v.regex(/^[\w .+#-]{1,64}$/)),
  created_at: v.pipe(v.string(), v.isoTimestamp()),
  edits: v.pipe(v.array(GuideEdit), v.maxLength(guideEditsMax)),
  /** For a person to run: nothing runs them by itself. */
  commands: v.optional(Remarks, []),
  notes: v.optional(Remarks, []),
})
export type Guide = v.InferOutput<typeof Guide>
