/** Draws the charts of a page; their numbers are in a table below each. */
import uPlot from 'uplot'

interface Plotted {
  readonly times: number[]
  readonly lines: readonly { label: string; values: (number | null)[]; tone?: string }[]
}

const HEIGHT = 224
/** Of the style sheet, so that dark mode and print have their own. */
const colourOf = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()
const TONES: Readonly<Record<string, string>> = { good: '--good', bad: '--bad', plain: '--accent' }
const OTHERS = ['--accent', '--good', '--bad', '--warm', '--quiet']

for (const block of document.querySelectorAll<HTMLElement>('[data-chart]')) {
  const { times, lines } = JSON.parse(block.dataset['chart'] ?? '{}') as Plotted
  block.hidden = false
  const axis = { stroke: colourOf('--quiet'), grid: { stroke: colourOf('--line') } }
  const series = lines.map(({ label, tone }, index) => ({
    label,
    stroke: colourOf(TONES[tone ?? ''] ?? OTHERS[index % OTHERS.length] ?? '--accent'),
    width: 2,
    points: { show: false },
  }))
  const widthOf = () => Math.max(block.clientWidth, 200)
  const plot = new uPlot(
    { width: widthOf(), height: HEIGHT, series: [{}, ...series], axes: [axis, axis] },
    [times, ...lines.map(({ values }) => values)],
    block,
  )
  new ResizeObserver(() => plot.setSize({ width: widthOf(), height: HEIGHT })).observe(block)
}
