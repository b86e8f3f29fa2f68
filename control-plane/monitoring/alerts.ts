/** Threshold alerts: what administrators want to be told of, and the round that looks. */
import { randomUUID } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { MINUTE_MS, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import {
  alertsAfter,
  countAlerts,
  deleteAlert,
  enabledAlertsAfter,
  findAlert,
  findWatch,
  insertAlert,
  putWatch,
  updateAlert,
  type AlertRow,
  type Watch,
} from '../store/queries/alerts.ts'
import { beginOf, deleteMinutesFrom } from '../store/queries/figures.ts'
import { requireTenant } from '../store/queries/tenants.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { judgeAlert, spanOf, watchAt } from './alert-judgement.ts'
import { previewAlert, previewSpan, type AlertPreview } from './alert-preview.ts'
import { countMetric, minutesOfMetric } from './metrics.ts'

export type Alert = Readonly<AlertRow>
export type NewAlert = Pick<
  Alert,
  'metric' | 'threshold' | 'windowSeconds' | 'coolDownSeconds' | 'isEnabled'
> &
  Partial<Pick<Alert, 'emailLanguage' | 'emailRecipients'>>
type AlertPatch = Partial<NewAlert>

/** As it stands in the audit trail. */
const noted = (alert: Alert, names: readonly (keyof NewAlert)[]) =>
  Object.fromEntries(names.map((name) => [NOTED_AS[name], alert[name]]))

const NOTED_AS = {
  metric: 'metric',
  threshold: 'threshold',
  windowSeconds: 'window_seconds',
  coolDownSeconds: 'cool_down_seconds',
  isEnabled: 'is_enabled',
  emailLanguage: 'email_language',
  emailRecipients: 'email_recipients',
} as const satisfies Record<keyof NewAlert, string>

/** What makes it another question: what was told of before says nothing about it. */
const QUESTION = ['metric', 'threshold', 'windowSeconds', 'isEnabled'] as const
const BREATHE_MS = 10
const PAGE = 200

interface AlertsWorld {
  readonly store: Store
  readonly clock: Clock
  /** Whether an email was written. */
  readonly mailAlert: (change: Change, alert: Alert, value: number) => Promise<boolean>
  readonly alertRecipients: {
    /** Each address that has not agreed yet, once in a while. */
    ask(
      change: Change,
      tenantId: string,
      emails: readonly string[],
      language: 'en' | 'de',
    ): Promise<void>
    confirmedOf(queries: Queries, tenantId: string): Promise<ReadonlySet<string>>
  }
  /** Someone waits for what was queued: it does not wait for the next round. */
  readonly mails: { deliver(): Promise<void> }
}

export function createAlerts({ store, clock, mailAlert, alertRecipients, mails }: AlertsWorld) {
  /** The same mail as administrators get, so in the language of theirs. */
  async function askOthers(change: Change, alert: AlertRow): Promise<void> {
    const { tenantId, emailRecipients, emailLanguage } = alert
    if (emailRecipients.length === 0) return
    if (emailLanguage === null)
      throw new Refusal(
        'field_invalid',
        { field: 'email_language' },
        'Choose a language for the emails to these addresses.',
      )
    await alertRecipients.ask(change, tenantId, emailRecipients, emailLanguage)
  }

  async function get(tenantId: string, alertId: string): Promise<Alert> {
    return found(await findAlert(store.read, tenantId, alertId))
  }

  /** What lies ahead of now was counted while the clock was wrong, and will not be counted again. */
  function watch(): Promise<Watch> {
    return store.change(async ({ queries, nowMs }) => {
      const next = watchAt(nowMs, await findWatch(queries))
      await deleteMinutesFrom(queries, beginOf('minute', nowMs) + MINUTE_MS)
      await putWatch(queries, next)
      return next
    })
  }

  async function judge(queries: Queries, alert: Alert, watched: Watch) {
    const span = spanOf(alert, watched)
    const value = await countMetric(queries, alert.tenantId, alert.metric, span)
    return { value, ...judgeAlert(alert, alert, value, watched) }
  }

  /**
   * Judged again with the writer, and as late as anybody has looked: whoever else did meanwhile has
   * told of it.
   */
  async function settle({ tenantId, alertId }: Alert, looked: Watch): Promise<void> {
    const isMailed = await store.change(async (change) => {
      const watched = (await findWatch(change.queries)) ?? looked
      const alert = await findAlert(change.queries, tenantId, alertId)
      if (alert?.isEnabled !== true) return false
      const { value, isTriggered, state } = await judge(change.queries, alert, watched)
      await updateAlert(change.queries, alert.tenantId, alert.alertId, state)
      if (!isTriggered) return false
      await change.emit('alert.triggered', tenantId, {
        alert_id: alertId,
        metric: alert.metric,
        threshold: alert.threshold,
        value,
        window_seconds: alert.windowSeconds,
        at: new Date(watched.judgedAt).toISOString(),
      })
      if (!(await mailAlert(change, alert, value))) return false
      await updateAlert(change.queries, tenantId, alertId, { emailedAt: change.nowMs })
      return true
    })
    if (isMailed) void mails.deliver()
  }

  return {
    get,

    async list(tenantId: string, page: PageRequest): Promise<Page<Alert>> {
      const [after] = decodeCursor(page.cursor, 'string') ?? ['']
      const rows = await alertsAfter(store.read, tenantId, after, page.limit + 1)
      return toPage(rows, page.limit, ({ alertId }) => [alertId])
    },

    /** Those of its addresses that have not agreed yet. */
    async waitingOf({ tenantId, emailRecipients }: Alert): Promise<readonly string[]> {
      if (emailRecipients.length === 0) return []
      const confirmed = await alertRecipients.confirmedOf(store.read, tenantId)
      return emailRecipients.filter((email) => !confirmed.has(email))
    },

    /** What it would have told of in the last day, over what was counted then. */
    async preview(tenantId: string, rule: NewAlert): Promise<AlertPreview> {
      const span = previewSpan(clock.nowMs())
      const fromMs = span.fromMs - rule.windowSeconds * SECOND_MS - MINUTE_MS
      const recorded = { fromMs, toMs: span.toMs }
      const counts = await minutesOfMetric(store.read, tenantId, rule.metric, recorded)
      return previewAlert(counts, rule, span)
    },

    async create(tenantId: string, input: NewAlert, actor: Actor): Promise<Alert> {
      const created = await store.change(async (change) => {
        const { queries, nowMs } = change
        await requireTenant(queries, tenantId)
        if ((await countAlerts(queries, tenantId)) >= LIMITS.alertsPerTenantMax)
          throw new Refusal('alerts_exhausted', { alerts_max: LIMITS.alertsPerTenantMax })
        const alert: AlertRow = {
          ...input,
          emailLanguage: input.emailLanguage ?? null,
          emailRecipients: input.emailRecipients ?? [],
          alertId: `alert_${randomUUID().replaceAll('-', '')}`,
          tenantId,
          createdAt: nowMs,
          updatedAt: nowMs,
          isAbove: false,
          triggeredAt: null,
          emailedAt: null,
        }
        await insertAlert(queries, alert)
        await askOthers(change, alert)
        const given = Object.keys(input) as (keyof NewAlert)[]
        const content = { alert_id: alert.alertId, ...noted(alert, given) }
        await change.audit(actor, { action: 'alert.created', tenantId, content })
        return alert
      })
      if (created.emailRecipients.length > 0) void mails.deliver()
      return created
    },

    async patch(
      tenantId: string,
      alertId: string,
      patch: AlertPatch,
      actor: Actor,
    ): Promise<Alert> {
      const patched = await store.change(async (change) => {
        const before = found(await findAlert(change.queries, tenantId, alertId))
        const isOther = (name: keyof NewAlert) =>
          patch[name] !== undefined && !isDeepStrictEqual(patch[name], before[name])
        const changed = (Object.keys(patch) as (keyof NewAlert)[]).filter(isOther)
        if (changed.length === 0) return before
        await updateAlert(change.queries, tenantId, alertId, {
          ...patch,
          updatedAt: change.nowMs,
          ...(QUESTION.some(isOther) && { isAbove: false }),
        })
        const after = found(await findAlert(change.queries, tenantId, alertId))
        if (isOther('emailRecipients') || isOther('emailLanguage')) await askOthers(change, after)
        const { metric } = after
        const [from, to] = [noted(before, changed), noted(after, changed)]
        const content = { alert_id: alertId, metric, from, to }
        await change.audit(actor, { action: 'alert.changed', tenantId, content })
        return after
      })
      if (patched.emailRecipients.length > 0) void mails.deliver()
      return patched
    },

    async remove(tenantId: string, alertId: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        if (!(await deleteAlert(change.queries, tenantId, alertId)))
          throw new Refusal('alert_not_found')
        const content = { alert_id: alertId }
        await change.audit(actor, { action: 'alert.removed', tenantId, content })
      })
    },

    /** One round over all alerts. Nothing is written about one that stays as it is. */
    async evaluate(isClosed: () => boolean = () => false): Promise<void> {
      let page = await enabledAlertsAfter(store.read, '', PAGE)
      if (page.length === 0) return
      const watched = await watch()
      let breathedMs = performance.now()
      while (page.length > 0) {
        for (const alert of page) {
          if (isClosed()) return
          const { state } = await judge(store.read, alert, watched)
          const isNews = state.isAbove !== alert.isAbove || state.triggeredAt !== alert.triggeredAt
          if (isNews) await settle(alert, watched)
          // reading is synchronous: whoever signs in meanwhile does not wait for all of it
          if (performance.now() - breathedMs < BREATHE_MS) continue
          await breathe()
          breathedMs = performance.now()
        }
        page = await enabledAlertsAfter(store.read, page.at(-1)?.alertId ?? '', PAGE)
      }
    },
  }
}

function found(alert: AlertRow | undefined): Alert {
  if (alert === undefined) throw new Refusal('alert_not_found')
  return alert
}
