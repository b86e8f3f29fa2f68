/**
 * A guide that a model writes for one project. Read `analyse()` first. Everything that a customer
 * sends and everything that a model answers is data: judged before it goes on, and never followed.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { Refusal, type ErrorCode } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { AnalysisOutcome } from '../store/analysis-tables.ts'
import { numberOf } from '../store/queries/tenants.ts'
import type { Actor, Store } from '../store/store.ts'
import type { Tenant } from '../tenants/tenants.ts'
import type { AnalysisMeter, Budgets } from './budgets.ts'
import { commandsFor } from './frameworks.ts'
import type { Guides, StoredGuide } from './guides.ts'
import { judgeApart, type JudgedAnswer } from './judge-answer.ts'
import { askedAgain, questionAbout } from './prompt.ts'
import {
  FAILURES,
  ProviderFailure,
  type AiSettings,
  type Deadline,
  type Provider,
} from './provider.ts'
import { judgeSent, type SentBody, type SentProject } from './sent-files.ts'

interface AnalysisWorld {
  readonly store: Store
  readonly guides: Guides
  readonly budgets: Budgets
  /** null: the operator has not set one. */
  readonly ai: { readonly settings: AiSettings; readonly provider: Provider } | null
  readonly baseUrl: string
  readonly log: Logger
}

export type Analysis = ReturnType<typeof createAnalysis>

/** A model that is told what was wrong gets it right the second time, or never. */
const ROUNDS_MAX = 2

type Written = Extract<JudgedAnswer, { kind: 'guide' }>

export function createAnalysis(world: AnalysisWorld) {
  const { store, guides, budgets, ai, baseUrl, log } = world
  const sdkUrl = `${baseUrl}/api/v1/sdk/node`
  const closing = new AbortController()
  let running = 0

  /** Asks until a guide is within the rules; nothing else comes back from here. */
  async function writeGuide(
    { settings, provider }: NonNullable<AnalysisWorld['ai']>,
    tenant: Tenant,
    project: SentProject,
    meter: AnalysisMeter,
  ): Promise<Written> {
    const { mode, tenantId } = tenant
    const deadline = deadlineIn(settings.timeoutMs, closing.signal)
    const marker = `=====${randomBytes(16).toString('hex')}`
    let question = questionAbout(project, { baseUrl, tenantId, mode, marker })
    for (let round = 1; ; round++) {
      const answer = await provider.ask(question, deadline, meter)
      const judged = await judgeApart({ answer, project, mode, baseUrl, sdkUrl })
      if (judged.kind === 'guide') return judged
      const problems = judged.problems.slice(0, 20)
      if (round === ROUNDS_MAX) {
        if (judged.kind === 'refused') throw new Refusal('ai_edits_refused', { problems })
        throw new ProviderFailure('unusable', { problem: problems[0] })
      }
      question = askedAgain(question, answer, problems)
    }
  }

  async function analyse(tenant: Tenant, body: SentBody, actor: Actor): Promise<StoredGuide> {
    if (ai === null) throw new Refusal('ai_not_configured')
    if (running >= LIMITS.analysesAtOnceMax) throw new Refusal('ai_busy', { retry_after: 10 })
    running++
    try {
      const project = await judgeSent(body, ai.settings.inputCharactersMax)
      return await analyseProject(ai, tenant, project, actor)
    } finally {
      running--
    }
  }

  async function analyseProject(
    ai: NonNullable<AnalysisWorld['ai']>,
    tenant: Tenant,
    project: SentProject,
    actor: Actor,
  ): Promise<StoredGuide> {
    const { settings, provider } = ai
    const { tenantId } = tenant
    const meter = budgets.meter(tenantId, settings)
    try {
      const written = await writeGuide(ai, tenant, project, meter)
      const guide = guideOf(written, provider, project)
      const kept = await store.change(async (change) => {
        // what is said of somebody's code is for nobody who has been given their id meanwhile
        if ((await numberOf(change.queries, tenantId)) !== tenant.number)
          return meter.finish(change, 'guide')
        await finish(change, 'guide', { guide_id: guide.guide_id, edits: guide.edits.length })
        return guides.keep(change, tenantId, guide)
      })
      if (kept === undefined) throw new Refusal('tenant_not_found')
      return kept
    } catch (error) {
      const refusal = refusalOf(error)
      log.warn(
        {
          tenant_id: tenantId,
          code: refusal.code,
          request_id: actor.requestId,
          ...detailOf(error),
        },
        'an analysis came to nothing',
      )
      const outcome = outcomeOf(refusal.code)
      if (outcome !== undefined && meter.isBegun())
        await store.change((change) => finish(change, outcome, {}))
      throw refusal
    }

    async function finish(
      change: Parameters<Parameters<Store['change']>[0]>[0],
      outcome: AnalysisOutcome,
      more: Record<string, unknown>,
    ) {
      await meter.finish(change, outcome)
      const { files, characters, masked } = project
      const content = {
        outcome,
        provider: provider.name,
        model: provider.model,
        files: files.size,
        characters,
        masked,
        tokens: meter.spent(),
        ...more,
      }
      await change.audit(actor, { action: 'analysis.run', tenantId, content })
    }
  }

  function guideOf({ guide, remarks }: Written, provider: Provider, project: SentProject) {
    const { framework } = guide
    return {
      guide_id: randomUUID(),
      framework,
      model: provider.model,
      summary: remarks.summary,
      edits: [...remarks.edits],
      commands: remarks.edits.length === 0 ? [] : commandsFor(framework, project, sdkUrl),
      notes: [
        `Written by the model ${provider.model}. Look at every edit before you apply it.`,
        ...remarks.notes,
      ].slice(0, LIMITS.guideRemarksMax),
      warnings: remarks.warnings.slice(0, LIMITS.guideRemarksMax),
    }
  }

  return {
    analyse,
    isConfigured: ai !== null,
    budget: ai === null ? 0 : ai.settings.tokensPerDay,
    async close() {
      closing.abort()
      await ai?.provider.close()
    },
  }
}

function deadlineIn(timeoutMs: number, closing: AbortSignal): Deadline {
  const endsMs = performance.now() + timeoutMs
  return {
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), closing]),
    remainingMs: () => endsMs - performance.now(),
  }
}

/** What the customer hears. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (!(error instanceof ProviderFailure)) throw error
  const { kind, retryAfterSeconds } = error
  const fields = retryAfterSeconds === undefined ? {} : { retry_after: retryAfterSeconds }
  return new Refusal(FAILURES[kind], fields)
}

/** What the operator finds in the log: no key, no file, no word of the model. */
function detailOf(error: unknown): Readonly<Record<string, unknown>> {
  return error instanceof ProviderFailure ? { provider: error.detail } : {}
}

/** undefined: it is about the request, and no provider was asked. */
function outcomeOf(code: ErrorCode): AnalysisOutcome | undefined {
  return code.startsWith('ai_') ? (code as AnalysisOutcome) : undefined
}
