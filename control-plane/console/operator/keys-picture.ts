/** Which key signs and which is accepted until when, drawn along time. The table says the same. */
import { html } from 'hono/html'
import { neededUntilMs, type KeyTimes } from '../../keys/signing-keys.ts'
import type { Tenant } from '../../store/queries/tenants.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import type { Html } from '../../pages/html.ts'

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

const WIDTH = 1000
const HEIGHT = 16

/** A bar for each key; stretched to the width there is, so no text is drawn into it. */
export function keysPicture(bars: readonly KeyBar[], nowMs: number): Html {
  const { fromMs, toMs } = windowOf(bars, nowMs)
  const x = (atMs: number) => {
    const share = (Math.min(Math.max(atMs, fromMs), toMs) - fromMs) / (toMs - fromMs)
    return Math.round(share * WIDTH)
  }
  const rect = (from: number, to: number, look: string) =>
    html`<rect class="${look}" x="${x(from)}" y="0" width="${Math.max(4, x(to) - x(from))}" height="${HEIGHT}" />`
  const row = (bar: KeyBar, index: number) => {
    const { kid, publishedFromMs, signsFromMs, signsUntilMs, neededUntilMs: endMs } = bar
    return html`<li>
      <p id="key-${index}"><code>${kid.slice(0, 12)}</code> ${captionOf(bar, nowMs)}</p>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-labelledby="key-${index}">
        ${rect(publishedFromMs, endMs ?? toMs, 'accepts')}
        ${signsFromMs === null ? '' : rect(signsFromMs, signsUntilMs ?? toMs, 'signs')}
        <line class="now" x1="${x(nowMs)}" x2="${x(nowMs)}" y1="0" y2="${HEIGHT}" />
      </svg>
    </li>`
  }
  return html`<figure class="card keys">
    <ol>${bars.map(row)}</ol>
    <figcaption class="hint">
      <span class="kept"><span class="swatch signs" aria-hidden="true"></span> signs</span>
      <span class="kept"><span class="swatch accepts" aria-hidden="true"></span> published and accepted</span>
      <span class="kept"><span class="swatch at-now" aria-hidden="true"></span> now</span>
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
  if (phase === 'current') return 'active'
  if (phase === 'next') return 'published, not signing yet'
  if (endMs === null || endMs <= nowMs) return 'retired; no session uses it, safe to delete'
  return `retired; accepted for ${aheadText(endMs - nowMs)} more, until its last sessions expire`
}

function aheadText(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.ceil(ms / DAY_MS)} days`
  if (ms >= 2 * HOUR_MS) return `${Math.ceil(ms / HOUR_MS)} hours`
  return `${Math.max(1, Math.ceil(ms / MINUTE_MS))} minutes`
}
