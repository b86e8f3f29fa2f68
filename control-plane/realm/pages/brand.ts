/** What makes a page a tenant's own: its colour and its logo, beside its name. */
import { createHash } from 'node:crypto'
import { accentsOf, type Accents, type Scheme } from '../../pages/accents.ts'

export interface Brand {
  /** `#rrggbb` */
  readonly colour?: string | undefined
  /** An address of the realm's own. */
  readonly logoUrl?: string | undefined
}

/** Built from a checked colour only: what comes in here is allowed by its hash. */
export function brandStyle(colour: string) {
  if (!/^#[0-9a-f]{6}$/.test(colour)) return undefined
  const style = `:root{${lines(colour, 'light')}}@media (prefers-color-scheme:dark){:root{${lines(colour, 'dark')}}}`
  return { element: `<style>${style}</style>`, source: sourceOf(style) }
}

/** The way that a Content-Security-Policy names this very style sheet. */
export function sourceOf(style: string): string {
  return `'sha256-${createHash('sha256').update(style).digest('base64')}'`
}

const VARIABLES: Readonly<Record<keyof Accents, string>> = {
  accent: '--accent',
  onAccent: '--on-accent',
  accentStrong: '--accent-strong',
  accentEdge: '--accent-edge',
  link: '--link',
  tint: '--tint',
  onTint: '--on-tint',
}

function lines(colour: string, scheme: Scheme): string {
  const accents = accentsOf(colour, scheme)
  return (Object.keys(VARIABLES) as (keyof Accents)[])
    .map((name) => `${VARIABLES[name]}:${accents[name]}`)
    .join(';')
}
