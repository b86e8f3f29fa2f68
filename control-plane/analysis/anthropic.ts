/**
 * The Messages API with structured outputs (platform.claude.com, "Structured outputs"): the schema
 * in `output_config.format`, and the answer as text. No sampling parameters: newer models refuse
 * them. A refusal and a cut come as 200 with a `stop_reason`, and may break the schema.
 */
import * as v from 'valibot'
import type { Wire } from './wire.ts'

const count = v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0)), 0)

const Answer = v.object({
  type: v.literal('message'),
  content: v.array(v.looseObject({ type: v.string() })),
  stop_reason: v.string(),
  usage: v.nullish(
    v.object({
      input_tokens: count,
      cache_creation_input_tokens: count,
      cache_read_input_tokens: count,
      output_tokens: count,
    }),
  ),
})

export const anthropic: Wire = {
  defaultBaseUrl: 'https://api.anthropic.com',
  path: '/v1/messages',
  requestIdHeader: 'request-id',
  headers: (key) => ({
    'anthropic-version': '2023-06-01',
    ...(key === null ? {} : { 'x-api-key': key }),
  }),
  body: ({ system, messages, schema }, { model, outputTokensMax }) => ({
    model,
    max_tokens: outputTokensMax,
    system,
    messages: messages.map(({ role, text }) => ({ role, content: text })),
    output_config: { format: { type: 'json_schema', schema } },
  }),
  read(answer) {
    const read = v.safeParse(Answer, answer)
    if (!read.success) return undefined
    const { content, stop_reason: reason, usage } = read.output
    const texts = content.flatMap((block) =>
      block.type === 'text' && typeof block['text'] === 'string' ? [block['text']] : [],
    )
    return {
      text: texts.join(''),
      tokens: usage ? Object.values(usage).reduce((sum, tokens) => sum + tokens, 0) : undefined,
      ending:
        reason === 'refusal'
          ? 'declined'
          : reason === 'max_tokens' || reason === 'model_context_window_exceeded'
            ? 'cut'
            : 'whole',
    }
  },
}
