/** Colours, for whoever can see them and has not asked to be spared. */

const STYLES = {
  bold: ['1', '22'],
  dim: ['2', '22'],
  red: ['31', '39'],
  green: ['32', '39'],
  yellow: ['33', '39'],
  cyan: ['36', '39'],
} as const

export type Style = keyof typeof STYLES
export type Paint = (style: Style, text: string) => string

export function createPaint(isColoured: boolean): Paint {
  if (!isColoured) return (_style, text) => text
  return (style, text) => {
    const [on, off] = STYLES[style]
    // line by line, so that no colour runs into what stands beside a wrapped text
    return text.replaceAll(/[^\n]+/g, (line) => `\u001b[${on}m${line}\u001b[${off}m`)
  }
}

interface ColourWishes {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly isTerminal: boolean
  /** `--no-color` */
  readonly isRefused: boolean
}

/** An option says more than the environment, and that more than the terminal (no-color.org). */
export function wantsColour({ environment, isTerminal, isRefused }: ColourWishes): boolean {
  if (isRefused || (environment['NO_COLOR'] ?? '') !== '') return false
  const forced = environment['FORCE_COLOR']
  if (forced !== undefined) return !/^(?:0|false)$/i.test(forced)
  return isTerminal && environment['TERM'] !== 'dumb'
}
