import { raw } from 'hono/html'

const icon = (size: number, width: number, shapes: string) =>
  raw(
    `<svg viewBox="0 0 ${size} ${size}" fill="none" stroke="currentColor" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes}</svg>`,
  )

export const LOCK = icon(
  16,
  1.5,
  '<rect x="3" y="7" width="10" height="7" rx="1.5"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>',
)
export const KEY = icon(
  24,
  1.75,
  '<circle cx="8" cy="15" r="4"/><path d="m11 12 8.5-8.5M16 7l3 3"/>',
)
export const WARNING = icon(
  20,
  1.75,
  '<circle cx="10" cy="10" r="8"/><path d="M10 6v4.5M10 13.75v.01"/>',
)
export const INFO = icon(
  20,
  1.75,
  '<circle cx="10" cy="10" r="8"/><path d="M10 9.25v4.5M10 6.25v.01"/>',
)
export const CHECK = icon(
  20,
  1.75,
  '<circle cx="10" cy="10" r="8"/><path d="m6.5 10.25 2.5 2.5 4.5-5"/>',
)
