/** Which key signs and which is accepted until when, drawn along time. The table says the same. */
import { html } from 'hono/html'
import { neededUntilMs, type KeyTimes } from '../../keys/signing-keys.ts'
import type { Tenant } from '../../store/queries/tenants.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import type { Html } from '../layout.ts'

export interface KeyBar {
  readonly kid: string
  readonly phase: KeyTimes['phase']
  readonly publishedFromMs: number
  readonly signsFromMs: number | null
  /** null: it signs now, or never has. */
  readonly signsUntilMs: number | null
  /** From then on no session can carry it; null: nobody knows yet. */
  readonly neededUntilMs: number | null
}

export function barOf(key: KeyTimes, tenant: Pick<Tenant, 'maxSessionSeconds'>): KeyBar {
  const { kid, phase, createdAtMs, promotedAtMs, retiredAtMs } = key
  return {
    kid,
    phase,
    publishedFromMs: createdAtMs,
    signsFromMs: promotedAtMs,
    signsUntilMs: retiredAtMs,
    neededUntilMs: retiredAtMs === null ? null : neededUntilMs(retiredAtMs, tenant),
  }
}

const WIDTH = 640
const LEFT = 116
const RIGHT = 16
const ROW = 44
const TOP = 26

export function keysPicture(bars: readonly KeyBar[], nowMs: number): Html {
  const { fromMs, toMs } = windowOf(bars, nowMs)
  const x = (atMs: number) => {
    const share = (Math.min(Math.max(atMs, fromMs), toMs) - fromMs) / (toMs - fromMs)
    return Math.round((LEFT + share * (WIDTH - LEFT - RIGHT)) * 10) / 10
  }
  const height = TOP + bars.length * ROW + 8
  const bar = (from: number, to: number, y: number, look: string) =>
    html`<rect class="${look}" x="${x(from)}" y="${y}" width="${Math.max(2, x(to) - x(from))}" height="16" rx="4" />`
  return html`<figure class="keys">
    <div class="table-frame" role="region" aria-label="Picture of the keys" tabindex="0">
      <svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${textOf(bars, nowMs)}">
        ${bars.map((one, index) => {
          const y = TOP + index * ROW + 8
          const acceptedTo = one.neededUntilMs ?? toMs
          return html`<text class="kid" x="0" y="${y + 13}">${one.kid.slice(0, 12)}</text>
            ${bar(one.publishedFromMs, acceptedTo, y, 'accepts')}
            ${one.signsFromMs === null ? '' : bar(one.signsFromMs, one.signsUntilMs ?? nowMs, y, 'signs')}
            <text x="${LEFT}" y="${y + 30}">${captionOf(one, nowMs)}</text>`
        })}
        <line class="now" x1="${x(nowMs)}" x2="${x(nowMs)}" y1="16" y2="${height}" />
        <text class="at-now" x="${x(nowMs)}" y="12" text-anchor="middle">now</text>
      </svg>
    </div>
    <figcaption class="hint">
      <span class="swatch signs" aria-hidden="true"></span> signs
      <span class="swatch accepts" aria-hidden="true"></span> is published, and accepted
    </figcaption>
  </figure>`
}

/** So wide that what is going on now is seen: not the years for which a key has been there. */
function windowOf(bars: readonly KeyBar[], nowMs: number) {
  const ends = bars.flatMap(({ neededUntilMs: end }) => (end === null ? [] : [end]))
  const begins = bars
    .flatMap(({ publishedFromMs, signsFromMs, signsUntilMs }) => [
      publishedFromMs,
      signsFromMs ?? nowMs,
      signsUntilMs ?? nowMs,
    ])
    .filter((ms) => ms < nowMs)
  const ahead = Math.max(HOUR_MS, ...ends.map((end) => (end - nowMs) * 1.15))
  const newest = Math.max(...begins, nowMs - 365 * DAY_MS)
  const behind = Math.min(Math.max(ahead, (nowMs - newest) * 1.3), 4 * ahead)
  return { fromMs: nowMs - behind, toMs: nowMs + ahead }
}

/** What the bar shows, beneath it. */
export function captionOf(bar: KeyBar, nowMs: number): string {
  const { phase, neededUntilMs: endMs } = bar
  if (phase === 'current') return 'signs, and is accepted'
  if (phase === 'next') return 'is published ahead, and does not sign yet'
  if (endMs === null || endMs <= nowMs) return 'signs no more; no session can carry it: delete it'
  return `signs no more; accepted for ${aheadText(endMs - nowMs)} more, until its last session is over`
}

function aheadText(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.ceil(ms / DAY_MS)} days`
  if (ms >= 2 * HOUR_MS) return `${Math.ceil(ms / HOUR_MS)} hours`
  return `${Math.max(1, Math.ceil(ms / MINUTE_MS))} minutes`
}

function textOf(bars: readonly KeyBar[], nowMs: number): string {
  return bars.map((bar) => `Key ${bar.kid.slice(0, 12)} ${captionOf(bar, nowMs)}.`).join(' ')
}
