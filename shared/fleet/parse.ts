/** Reading what came over the fleet link. Reasons name the place and the wish, never the value. */
import * as v from 'valibot'

type ParsedMessage<Message> =
  | { readonly kind: 'message'; readonly message: Message }
  /** A newer peer may say things that this version does not know: left out, not an error. */
  | { readonly kind: 'unknown'; readonly type: string }
  | { readonly kind: 'malformed'; readonly type: string; readonly reason: string }
  | { readonly kind: 'not_json' }

type Types = readonly { readonly entries: { readonly type: { readonly literal: string } } }[]

export function parseFleetMessage<Message>(
  schema: v.GenericSchema<unknown, Message> & { readonly options: Types },
  text: string,
): ParsedMessage<Message> {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return { kind: 'not_json' }
  }
  const type = typeOf(content)
  const result = v.safeParse(schema, content, { abortEarly: true })
  if (result.success) return { kind: 'message', message: result.output }
  const isKnown = schema.options.some((option) => option.entries.type.literal === type)
  if (type !== '' && !isKnown) return { kind: 'unknown', type: type.slice(0, 50) }
  return { kind: 'malformed', type, reason: issueReason(result.issues[0]) }
}

/** `keys.0.kid: expected string`. The value stays out: snapshots hold secrets. */
export function issueReason(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue) ?? 'message'
  return `${path.slice(0, 200)}: expected ${(issue.expected ?? issue.type).slice(0, 200)}`
}

function typeOf(content: unknown): string {
  if (typeof content !== 'object' || content === null) return ''
  const type = (content as { type?: unknown }).type
  return typeof type === 'string' ? type : ''
}
