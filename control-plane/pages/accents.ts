/**
 * What a tenant's colour becomes on our pages, in light and in dark, as arithmetic. Whatever was
 * chosen, all text keeps a contrast of 4.5 to 1 and all edges 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11).
 */

export const TEXT_CONTRAST_MIN = 4.5
export const EDGE_CONTRAST_MIN = 3

/** What pages lie on: the card, and the ground around it. */
export const GROUNDS = {
  light: { card: '#ffffff', ground: '#f4f5f7' },
  dark: { card: '#171a22', ground: '#0e1016' },
} as const
export type Scheme = keyof typeof GROUNDS

export interface Accents {
  /** The fill of a button: the tenant's own colour, and the text on it. */
  readonly accent: string
  readonly onAccent: string
  /** The fill under a pointer, which takes the same text. */
  readonly accentStrong: string
  /** Around a button, which would be lost where its fill is like the card. */
  readonly accentEdge: string
  /** Links and the ring around what has the focus. */
  readonly link: string
  /** The ground of the tenant's initial, and the letter on it. */
  readonly tint: string
  readonly onTint: string
}

/** `colour` is `#rrggbb`. */
export function accentsOf(colour: string, scheme: Scheme): Accents {
  const { card, ground } = GROUNDS[scheme]
  const far = scheme === 'light' ? BLACK : WHITE
  const link = readable(colour, [card, ground], far)
  const onAccent = contrast(WHITE, colour) >= TEXT_CONTRAST_MIN ? WHITE : BLACK
  const tint = mixed(card, link, 0.14)
  return {
    accent: colour,
    onAccent,
    accentStrong: mixed(colour, onAccent === WHITE ? BLACK : WHITE, 0.18),
    accentEdge: contrast(colour, card) >= EDGE_CONTRAST_MIN ? colour : link,
    link,
    tint,
    onTint: readable(link, [tint], far),
  }
}

/** From 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

const WHITE = '#ffffff'
const BLACK = '#000000'
const STEP = 0.02

/** The colour, moved towards black or white until it can be read on all of these. */
function readable(colour: string, grounds: readonly string[], far: string): string {
  for (let share = 0; share < 1; share += STEP) {
    const moved = mixed(colour, far, share)
    if (grounds.every((ground) => contrast(moved, ground) >= TEXT_CONTRAST_MIN)) return moved
  }
  return far
}

function mixed(from: string, to: string, share: number): string {
  const [a, b] = [channels(from), channels(to)]
  const mix = a.map((channel, i) => Math.round(channel + ((b[i] ?? 0) - channel) * share))
  return `#${mix.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
}

/** Relative luminance as WCAG defines it. */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = channels(colour).map((channel) => {
    const part = channel / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
