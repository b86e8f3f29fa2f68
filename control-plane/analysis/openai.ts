/**
 * Chat completions, as OpenAI's API has them and many servers beside it: `response_format` with a
 * strict schema. `system` rather than `developer`, which OpenAI takes as well and others do not
 * know. A refusal is a field of the message; a cut is a `finish_reason`.
 */
import * as v from 'valibot'
import type { Wire } from './wire.ts'

const count = v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0)), 0)

const Answer = v.object({
  choices: v.tuple([
    v.object({
      finish_reason: v.nullish(v.string(), 'stop'),
      message: v.object({ content: v.nullish(v.string(), ''), refusal: v.nullish(v.string()) }),
    }),
  ]),
  usage: v.nullish(v.object({ prompt_tokens: count, completion_tokens: count })),
})

export const openai: Wire = {
  defaultBaseUrl: 'https://api.openai.com/v1',
  path: '/chat/completions',
  requestIdHeader: 'x-request-id',
  headers: (key): Record<string, string> =>
    key === null ? {} : { authorization: `Bearer ${key}` },
  body: ({ system, messages, schema }, { model, outputTokensMax }) => ({
    model,
    max_completion_tokens: outputTokensMax,
    messages: [
      { role: 'system', content: system },
      ...messages.map(({ role, text }) => ({ role, content: text })),
    ],
    response_format: { type: 'json_schema', json_schema: { name: 'guide', strict: true, schema } },
  }),
  read(answer) {
    const read = v.safeParse(Answer, answer)
    if (!read.success) return undefined
    const { choices, usage } = read.output
    const [{ finish_reason: reason, message }] = choices
    const isDeclined = (message.refusal ?? '') !== '' || reason === 'content_filter'
    return {
      text: message.content,
      tokens: usage ? usage.prompt_tokens + usage.completion_tokens : undefined,
      ending: isDeclined ? 'declined' : reason === 'length' ? 'cut' : 'whole',
    }
  },
}
