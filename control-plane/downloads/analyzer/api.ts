/** The calls of the service that this program makes, and what it reads of their answers. */
import * as v from 'valibot'
import { LIMITS } from '../../../shared/limits.ts'
import { VERSION } from '../../../shared/version.ts'
import { plainText } from '../command-line/words.ts'
import {
  createServiceClient,
  jsonOf,
  notTheService,
  type Question,
  type ServiceClientWorld,
} from './service-client.ts'

export type Api = ReturnType<typeof createApi>

/** A probe of many hostnames takes its time, and so does a sign-in from end to end. */
const CHECK_MS = 120_000
/** A model thinks. */
const ANALYSIS_MS = 280_000
/** A guide may hold whole files. */
const GUIDE_BYTES_MAX = 32 * 1024 * 1024

const text = v.pipe(v.string(), v.transform<string, string>(plainText))
const texts = v.optional(v.array(text), [])

const CheckAnswer = v.object({
  check: text,
  status: v.picklist(['pass', 'fail', 'warn', 'skip']),
  detail: v.optional(text, ''),
  next_action: v.optional(text, ''),
  at: v.optional(text, ''),
  source: v.optional(text, 'platform'),
})
export type CheckAnswer = v.InferOutput<typeof CheckAnswer>

const VerificationAnswer = v.object({
  status: v.picklist(['pass', 'fail', 'unknown']),
  checks: v.array(CheckAnswer),
  held_back: texts,
})
export type VerificationAnswer = v.InferOutput<typeof VerificationAnswer>

const FactsAnswer = v.object({
  tenant_id: text,
  name: text,
  mode: v.picklist(['gateway', 'connector', 'sdk']),
  status: text,
  protection: v.picklist(['on', 'pass-through']),
  edge_urls: v.record(v.string(), text),
  origin: text,
  health: v.string(),
  sealed: v.array(v.string()),
  excluded: v.array(v.string()),
  client_id: text,
  integration_completed_at: v.nullable(text),
  /** null: in another mode, or an older service does not tell. */
  connectors_connected: v.optional(v.nullable(v.number()), null),
})
export type Facts = v.InferOutput<typeof FactsAnswer>

/** Where people open the application: in sdk mode nothing stands in front of it. */
export const addressesOf = ({ mode, origin, edge_urls: urls }: Facts): readonly string[] =>
  mode === 'sdk' ? [origin] : Object.values(urls)

const ProtectionAnswer = v.object({
  tenant_id: text,
  protection: v.picklist(['on', 'pass-through']),
  at: text,
})
export type ProtectionAnswer = v.InferOutput<typeof ProtectionAnswer>

const CompletionAnswer = v.object({ completed_at: text, checks: v.array(CheckAnswer) })

const RefusedAnswer = v.object({
  error: v.optional(text, ''),
  detail: v.optional(text, ''),
  missing: texts,
  checks: v.optional(v.array(CheckAnswer), []),
})
/** 409: understood, and not done. */
export type Refused = v.InferOutput<typeof RefusedAnswer>

const AnalysisAnswer = v.object({
  guide_id: text,
  framework: text,
  summary: text,
  edits: v.array(v.object({ path: v.string(), action: text, why: v.optional(text, '') })),
  warnings: texts,
  url: v.optional(text, ''),
})
export type AnalysisAnswer = v.InferOutput<typeof AnalysisAnswer>

const seconds = v.pipe(v.number(), v.minValue(1), v.maxValue(3600))
const DeviceCodeAnswer = v.object({
  device_code: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{8,512}$/)),
  user_code: v.pipe(v.string(), v.regex(/^[A-Z0-9]{2,12}(?:-[A-Z0-9]{2,12})*$/)),
  verification_uri_complete: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,2048}$/)),
  expires_in: seconds,
  interval: seconds,
})
export type DeviceCode = v.InferOutput<typeof DeviceCodeAnswer>

const HandedOutAnswer = v.object({
  analyzer_key: v.string(),
  tenant_id: text,
  mode: v.picklist(['gateway', 'connector', 'sdk']),
  client_secret: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{16,256}$/))),
})
export type HandedOut = v.InferOutput<typeof HandedOutAnswer>

const PENDING = ['authorization_pending', 'slow_down', 'access_denied', 'expired_token'] as const
type DeviceToken =
  | { readonly handedOut: HandedOut }
  | { readonly pending: (typeof PENDING)[number] }

export type OrRefused<T> = { readonly done: T } | { readonly refused: Refused }

interface LocalReport {
  readonly framework: string
  readonly language: string
  readonly checks: readonly Pick<CheckAnswer, 'check' | 'status' | 'detail' | 'next_action'>[]
}

interface AnalysisRequest {
  readonly files: Readonly<Record<string, string>>
  readonly package_json?: unknown
}

export function createApi(world: ServiceClientWorld) {
  const { baseUrl } = world
  const send = createServiceClient(world)

  async function ask<const Schema extends v.GenericSchema>(
    schema: Schema,
    question: Question,
  ): Promise<v.InferOutput<Schema>> {
    return read(schema, jsonOf(await send(question), baseUrl))
  }

  function read<const Schema extends v.GenericSchema>(schema: Schema, body: unknown) {
    const parsed = v.safeParse(schema, body)
    if (!parsed.success) throw notTheService(baseUrl, 'returned an unexpected answer')
    return parsed.output
  }

  async function orRefused<const Schema extends v.GenericSchema>(
    schema: Schema,
    question: Question,
  ): Promise<OrRefused<v.InferOutput<Schema>>> {
    const answer = await send({ ...question, method: 'POST', expected: { 409: null } })
    const body = jsonOf(answer, baseUrl)
    if (answer.status === 409) return { refused: read(RefusedAnswer, body) }
    return { done: read(schema, body) }
  }

  return {
    /** Answers whoever asks; the `Date` is for comparing clocks. */
    async contract(): Promise<{ readonly dateMs: number }> {
      const answer = await send({ path: '/api/v1/contract', key: 'none' })
      if (jsonOf(answer, baseUrl)['contract_version'] === undefined)
        throw notTheService(baseUrl, 'returned an unexpected answer')
      return { dateMs: Date.parse(answer.headers.get('date') ?? '') }
    },

    facts: () => ask(FactsAnswer, { path: '/api/v1/integration' }),
    status: () => ask(VerificationAnswer, { path: '/api/v1/verify/status' }),

    async report({ framework, language, checks }: LocalReport): Promise<void> {
      const told = checks.map((one) => ({
        ...one,
        detail: reported(one.detail),
        next_action: reported(one.next_action),
      }))
      const body = { cli_version: VERSION, project: { framework, language }, checks: told }
      await send({ method: 'POST', path: '/api/v1/verify/local', body })
    },

    probe: () =>
      orRefused(VerificationAnswer, { path: '/api/v1/verify/probe', timeoutMs: CHECK_MS }),
    goLive: ({ isAnyway }: { readonly isAnyway: boolean }) =>
      orRefused(ProtectionAnswer, {
        path: '/api/v1/go-live',
        ...(isAnyway && { body: { ignore_local_checks: true } }),
      }),
    goBack: () => orRefused(ProtectionAnswer, { path: '/api/v1/go-back' }),
    complete: () =>
      orRefused(CompletionAnswer, { path: '/api/v1/integration-complete', timeoutMs: CHECK_MS }),

    async deviceCode(body: Readonly<Record<string, string>>): Promise<DeviceCode> {
      const named = Object.entries(body).filter(([, name]) => name !== '')
      return ask(DeviceCodeAnswer, {
        method: 'POST',
        path: '/api/v1/cli/device-codes',
        key: 'none',
        body: Object.fromEntries(named),
        expected: { 201: null },
      })
    },

    async deviceToken(deviceCode: string): Promise<DeviceToken> {
      const answer = await send({
        method: 'POST',
        path: '/api/v1/cli/device-tokens',
        key: 'none',
        body: { device_code: deviceCode },
        expected: { 400: [...PENDING] },
      })
      const body = jsonOf(answer, baseUrl)
      const pending = PENDING.find((error) => answer.status === 400 && body['error'] === error)
      return pending === undefined ? { handedOut: read(HandedOutAnswer, body) } : { pending }
    },

    /** null: the tenant has none yet, as it is not published. */
    async publicKey(): Promise<string | null> {
      const expected = { 404: 'not_published' }
      const answer = await send({ path: '/api/v1/public-key', key: 'query', expected })
      if (answer.status === 404) return null
      if (!PEM.test(answer.text)) throw notTheService(baseUrl, 'returned an unexpected answer')
      return answer.text
    },

    /** As it came: whoever makes a plan of it judges it whole. null: none is stored. */
    async guide(): Promise<Readonly<Record<string, unknown>> | null> {
      const answer = await send({
        path: '/api/v1/guide',
        key: 'query',
        answerBytesMax: GUIDE_BYTES_MAX,
        expected: { 404: 'no_guide' },
      })
      if (answer.status === 404) return null
      return jsonOf(answer, baseUrl)
    },

    /** null: the operator has set no provider. */
    async analyze(body: AnalysisRequest): Promise<AnalysisAnswer | null> {
      const answer = await send({
        method: 'POST',
        path: '/api/v1/ai-analyze',
        body,
        timeoutMs: ANALYSIS_MS,
        answerBytesMax: GUIDE_BYTES_MAX,
        expected: { 503: 'ai_not_configured' },
      })
      if (answer.status === 503) return null
      return read(AnalysisAnswer, jsonOf(answer, baseUrl))
    },
  }
}

/** In one line, and no longer than a report takes: what it names comes from files of strangers. */
function reported(found: string): string {
  const line = plainText(found)
  const most = LIMITS.selfReportTextCharactersMax
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`.toWellFormed()
}

const PEM = /^(?:-----BEGIN PUBLIC KEY-----\n[A-Za-z0-9+/=\n]+-----END PUBLIC KEY-----\n)+$/
