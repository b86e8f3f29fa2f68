/**
 * How the lines of a chart differ: in their dashes, whatever their colour is, so that a legend is
 * read without any. Used by the page and by the script that draws.
 */
interface LineLook {
  /** A custom property of the style sheet. */
  readonly colour: string
  readonly dash: readonly number[]
}

const LOOKS: readonly LineLook[] = [
  { colour: '--accent', dash: [] },
  { colour: '--warm', dash: [8, 4] },
  { colour: '--bad', dash: [2, 3] },
  { colour: '--good', dash: [10, 3, 2, 3] },
  { colour: '--quiet', dash: [5, 5] },
  { colour: '--text', dash: [16, 4] },
]

const TONES: Readonly<Record<string, string>> = {
  good: '--good',
  bad: '--bad',
  warm: '--warm',
  plain: '--accent',
}

export function lookOf(index: number, tone: string | undefined): LineLook {
  const look = LOOKS[index % LOOKS.length] ?? { colour: '--accent', dash: [] }
  const colour = tone === undefined ? undefined : TONES[tone]
  return colour === undefined ? look : { ...look, colour }
}
