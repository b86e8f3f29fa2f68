/**
 * A provider of models as a real HTTP server. It holds every request against what the two APIs
 * document, field by field and with nothing besides, answers as they do, and can misbehave in
 * every way. Whether a model would have written that, nobody asks.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import * as v from 'valibot'
import type { AiSettings } from '../../control-plane/analysis/provider.ts'

interface Teardown {
  teardown(work: () => unknown): void
}

export interface Asked {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly system: string
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly model: string
  readonly outputTokens: number
  readonly schema: Record<string, unknown>
  readonly raw: string
}

/** What a model says; text is sent as it is. */
export type Said =
  | Record<string, unknown>
  | string
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | ((response: ServerResponse, asked: Asked) => void)

const Schema = v.strictObject({
  type: v.literal('object'),
  properties: v.record(v.string(), v.unknown()),
  required: v.array(v.string()),
  additionalProperties: v.literal(false),
})
const Turn = v.strictObject({ role: v.picklist(['user', 'assistant']), content: v.string() })

const AnthropicRequest = v.strictObject({
  model: v.string(),
  max_tokens: v.number(),
  system: v.string(),
  messages: v.array(Turn),
  output_config: v.strictObject({
    format: v.strictObject({ type: v.literal('json_schema'), schema: Schema }),
  }),
})

const OpenAiRequest = v.strictObject({
  model: v.string(),
  max_completion_tokens: v.number(),
  messages: v.tupleWithRest(
    [v.strictObject({ role: v.literal('system'), content: v.string() })],
    Turn,
  ),
  response_format: v.strictObject({
    type: v.literal('json_schema'),
    json_schema: v.strictObject({
      name: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/)),
      strict: v.literal(true),
      schema: Schema,
    }),
  }),
})

export const AI_KEY = 'key-of-the-provider'
export const USAGE = { input: 1000, output: 200 }

export type AiProvider = Awaited<ReturnType<typeof startAiProvider>>

export async function startAiProvider(t: Teardown, kind: AiSettings['provider'] = 'anthropic') {
  const asked: Asked[] = []
  const problems: string[] = []
  const sockets = new Set<Socket>()
  let says: (asked: Asked, index: number) => Said = () => ''

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const raw = Buffer.concat(chunks).toString('utf8')
      try {
        const one = kind === 'anthropic' ? readAnthropic(request, raw) : readOpenAi(request, raw)
        asked.push(one)
        answer(response, says(one, asked.length - 1), one, kind)
      } catch (error) {
        problems.push((error as Error).message)
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{}}')
      }
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    asked,
    /** Where a request was not as the API documents it; there should be none. */
    problems,
    settings: (changes: Partial<AiSettings> = {}): AiSettings => ({
      provider: kind,
      baseUrl: kind === 'openai' ? `${base}/v1` : base,
      model: 'model-of-the-tests',
      key: AI_KEY,
      timeoutMs: 10_000,
      inputCharactersMax: 100_000,
      outputTokensMax: 4000,
      tenantTokensPerDay: 1_000_000,
      tokensPerDay: 1_000_000,
      ...changes,
    }),
    /** One for every request, the last one for all that follow. */
    says(...all: readonly Said[]) {
      says = (_asked, index) => all[Math.min(index, all.length - 1)] ?? ''
    },
    hears(work: (asked: Asked, index: number) => Said) {
      says = work
    },
  }
}

function readAnthropic(request: IncomingMessage, raw: string): Asked {
  check(request.method === 'POST' && request.url === '/v1/messages', `asked ${request.url}`)
  check(request.headers['x-api-key'] === AI_KEY, 'x-api-key')
  check(request.headers['anthropic-version'] === '2023-06-01', 'anthropic-version')
  check(request.headers.authorization === undefined, 'authorization')
  const { model, max_tokens, system, messages, output_config } = read(
    AnthropicRequest,
    request,
    raw,
  )
  const { schema } = output_config.format
  return { ...common(request, raw), system, messages, model, outputTokens: max_tokens, schema }
}

function readOpenAi(request: IncomingMessage, raw: string): Asked {
  check(request.method === 'POST' && request.url === '/v1/chat/completions', `asked ${request.url}`)
  check(request.headers.authorization === `Bearer ${AI_KEY}`, 'authorization')
  const body = read(OpenAiRequest, request, raw)
  const [{ content: system }, ...messages] = body.messages
  const { schema } = body.response_format.json_schema
  const { model, max_completion_tokens: outputTokens } = body
  return { ...common(request, raw), system, messages, model, outputTokens, schema }
}

function common(request: IncomingMessage, raw: string) {
  return { path: request.url ?? '', headers: request.headers, raw }
}

function read<S extends v.GenericSchema>(schema: S, request: IncomingMessage, raw: string) {
  check(request.headers['content-type'] === 'application/json', 'content-type')
  const result = v.safeParse(schema, JSON.parse(raw))
  if (result.success) return result.output
  throw new Error(`${v.getDotPath(result.issues[0]) ?? ''}: ${result.issues[0].message}`)
}

function check(isRight: boolean, what: string) {
  if (!isRight) throw new Error(`wrong: ${what}`)
}

function answer(response: ServerResponse, said: Said, asked: Asked, kind: AiSettings['provider']) {
  if (typeof said === 'function') return said(response, asked)
  if (typeof said === 'object' && typeof said['status'] === 'number') {
    const {
      status,
      headers = {},
      body = '{}',
    } = said as { status: number; headers?: Record<string, string>; body?: string }
    return void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(body)
  }
  const text = typeof said === 'string' ? said : JSON.stringify(said)
  response.writeHead(200, {
    'content-type': 'application/json',
    [kind === 'anthropic' ? 'request-id' : 'x-request-id']: 'req_of_the_provider',
  })
  response.end(JSON.stringify(kind === 'anthropic' ? message(text) : completion(text)))
}

/** As the Messages API answers, with thinking in front of the text. */
export function message(text: string, stop = 'end_turn'): Record<string, unknown> {
  return {
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model: 'model-of-the-tests',
    content: [
      { type: 'thinking', thinking: '', signature: 'x' },
      { type: 'text', text, citations: null },
    ],
    stop_reason: stop,
    stop_sequence: null,
    usage: {
      input_tokens: USAGE.input - 300,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 200,
      output_tokens: USAGE.output,
      service_tier: 'standard',
    },
  }
}

export function completion(
  content: string | null,
  { finish = 'stop', refusal = null }: { finish?: string; refusal?: string | null } = {},
): Record<string, unknown> {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'model-of-the-tests',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal, annotations: [] },
        logprobs: null,
        finish_reason: finish,
      },
    ],
    usage: { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: 1200 },
  }
}
