/** Small things that pages are made of: times, badges, facts, what is to be copied. */
import { html } from 'hono/html'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import type { Html } from '../../pages/html.ts'

/** UTC as it is written; the script turns it into the viewer's own time and keeps UTC for hovering. */
export function moment(atMs: number | null | undefined): Html {
  return atMs == null ? NEVER : written(atMs, MINUTES)
}

/** To the second, for lists of what has happened. */
export function logMoment(atMs: number | null | undefined): Html {
  return atMs == null ? NEVER : written(atMs, SECONDS)
}

const NEVER = html`<span class="none">never</span>`
/** So much of an ISO time is shown; the script shows as much. */
const MINUTES = 16
const SECONDS = 19

/** Where there is no place for an element. */
export const logMomentText = (atMs: number): string => utcText(new Date(atMs).toISOString())

const utcText = (iso: string, characters = SECONDS) =>
  `${iso.slice(0, characters).replace('T', ' ')} UTC`

function written(atMs: number, characters: number): Html {
  const iso = new Date(atMs).toISOString()
  const utc = utcText(iso, characters)
  return html`<time datetime="${iso}" ${characters === SECONDS ? html`data-seconds` : ''}>${utc}</time>`
}

/** How long ago, in words; the moment itself for hovering. */
export function age(atMs: number, nowMs: number): Html {
  const iso = new Date(atMs).toISOString()
  return html`<time class="age" datetime="${iso}" title="${utcText(iso)}">${ageText(atMs, nowMs)}</time>`
}

const AGES = [
  [DAY_MS, 'day', 'days'],
  [HOUR_MS, 'hour', 'hours'],
  [MINUTE_MS, 'minute', 'minutes'],
  [SECOND_MS, 'second', 'seconds'],
] as const

export function ageText(atMs: number, nowMs: number): string {
  const [unit, one, many] = AGES.find(([ms]) => nowMs - atMs >= ms) ?? []
  if (unit === undefined) return 'just now'
  const count = Math.floor((nowMs - atMs) / unit)
  return `${count} ${count === 1 ? one : many} ago`
}

export type Tone = 'good' | 'bad' | 'warm' | 'plain'

export function badge(text: string, tone: Tone = 'plain'): Html {
  return html`<span class="badge ${tone}">${text}</span>`
}

/** One of a list of steps: how far it is, for the eye and for the ear. */
export const stepItem = (
  { word, tone, icon }: { readonly word: string; readonly tone: string; readonly icon: Html | '' },
  title: string,
  content: Html,
): Html =>
  html`<li>
    <span class="tick ${tone}" aria-hidden="true">${icon}</span>
    <div>
      <h3>${title} <span class="unseen">(${word})</span></h3>
      ${content}
    </div>
  </li>`

export function facts(pairs: readonly (readonly [string, string | number | Html | null])[]): Html {
  return html`<dl class="facts">
    ${pairs.map(
      ([label, value]) =>
        html`<div><dt>${label}</dt><dd>${value ?? html`<span class="none">none</span>`}</dd></div>`,
    )}
  </dl>`
}

export function card(heading: string, content: Html | readonly Html[], id?: string): Html {
  return html`<section class="card" ${id === undefined ? '' : html`id="${id}"`}>
    <h2>${heading}</h2>
    ${content}
  </section>`
}

/**
 * A secret, a line for a shell, or code: easy to select, and with the script a button that copies
 * it. One line is shown whole, however small the screen; code keeps its lines.
 */
export function copyable(text: string, label: string): Html {
  return html`<div class="copyable ${text.includes('\n') ? 'listing' : ''}">
    <pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>
    <button type="button" class="button small" data-copy hidden>Copy</button>
  </div>`
}
