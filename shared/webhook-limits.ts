/** Of events on their way to tenants; a part of `LIMITS`, which is what is asked. */
export const WEBHOOK_LIMITS = {
  // webhooks and what waits for them
  webhooksPerTenantMax: 100,
  webhookDescriptionCharactersMax: 500,
  webhookAttemptsMax: 6,
  /** Of what a receiver answers, for people to look at. */
  webhookAnswerCharactersKept: 2000,
  /** Deliveries that wait for one webhook; more are failures at once. */
  webhookPendingMax: 10_000,
  /** While so many have failed, those failures are only counted. */
  webhookFailedBeforeDropMax: 10_000,
  /** Under way at the same time: in all, to receivers that fail or are slow, and to one. */
  webhookSendsMax: 512,
  webhookSlowSendsMax: 256,
  webhookSendsPerTenantMax: 64,
  webhookSendsPerWebhookMax: 8,
  webhookEventsAtOnceMax: 200,
  webhookDeliveriesAtOnceMax: 500,
  /** Failed ones that are sent again in one change, and changes for each time that somebody asks. */
  webhookReplayedAtOnceMax: 100,
  webhookReplayTurnsMax: 100,
  /** Of events, or of the bodies made of them, that one change takes; one is always taken. */
  webhookBytesAtOnceMax: 1024 * 1024,
  webhookResultsAtOnceMax: 500,
  /** Webhooks that fail for days, and are paused for it in one change. */
  webhooksPausedAtOnceMax: 20,
  /** Of what no longer waits: written down in one change, and changes that a request waits for. */
  webhookEndedAtOnceMax: 200,
  webhookEndingsWaitedForMax: 100,
  /** So many failures over so long without a success, and a webhook is paused. */
  webhookFailuresBeforePauseMin: 20,
  webhookFailingMsBeforePause: 3 * 24 * 3600 * 1000,
  webhookDeliveryKeptMs: 30 * 24 * 3600 * 1000,
  /** Of deliveries with what was sent and answered: beyond it the oldest that are over go. */
  webhookKeptBytesPerTenantMax: 200 * 1024 * 1024,
  outboxKeptMs: 7 * 24 * 3600 * 1000,
  // deliveries of webhooks, to receivers that tenants name
  webhookUrlCharactersMax: 2000,
  webhookAddressesMax: 64,
  webhookMsMax: 8000,
  webhookAnswerBytesMax: 64 * 1024,
  webhookKeepAliveMsMax: 10_000,
} as const
