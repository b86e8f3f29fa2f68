/** Draws the charts of a page; their numbers are in a table below each. */
import uPlot from 'uplot'
import { lookOf } from '../blocks/line-looks.ts'
import { dateTimeFormat } from './local-times.ts'

interface Plotted {
  readonly times: number[]
  readonly lines: readonly { label: string; values: (number | null)[]; tone?: string }[]
  /** Whose days and hours they are, wherever the viewer is; the viewer's own, if none is named. */
  readonly timeZone?: string
}

const HEIGHT = 224
const WIDTH_MIN = 200
const DAY_SECONDS = 86_400
/** So much of a label fits between two ticks. */
const TICK_PIXELS = 64
/** Nothing is counted in halves. */
const WHOLE_STEPS = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat()
const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact' })
const FULL = new Intl.NumberFormat()
const VIEWERS = new Intl.DateTimeFormat().resolvedOptions().timeZone

function show(block: HTMLElement) {
  const plotted = JSON.parse(block.dataset['chart'] ?? '{}') as Plotted
  block.hidden = false
  let plot = draw(block, plotted)
  new ResizeObserver(() => plot.setSize({ width: widthOf(block), height: HEIGHT })).observe(block)
  // a canvas keeps the colours that it was painted with
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    plot.destroy()
    plot = draw(block, plotted)
  })
}

const widthOf = (block: HTMLElement) => Math.max(block.clientWidth, WIDTH_MIN)
/** Of the style sheet, so that light and dark have their own. */
const colourOf = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

function draw(block: HTMLElement, { times, lines, timeZone = VIEWERS }: Plotted): uPlot {
  const axis = {
    stroke: colourOf('--quiet'),
    grid: { stroke: colourOf('--line'), width: 1 },
    ticks: { stroke: colourOf('--line'), width: 1 },
    font: '12px system-ui, sans-serif',
    labelFont: '12px system-ui, sans-serif',
  }
  const options: uPlot.Options = {
    width: widthOf(block),
    height: HEIGHT,
    padding: [8, 32, 0, 0],
    legend: { show: false }, // the page has one of its own, which is there without a script
    cursor: { drag: { x: false, y: false }, y: false },
    scales: { y: { range: (_, __, most) => [0, Math.max(most, 1) * 1.05] } },
    axes: [
      {
        ...axis,
        space: TICK_PIXELS,
        label: `Time (${timeZone})`,
        labelSize: 20,
        values: ticks(timeZone),
      },
      {
        ...axis,
        size: 48,
        incrs: WHOLE_STEPS,
        values: (_, splits) => splits.map((value) => COMPACT.format(value)),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, tone }, index) => {
        const { colour, dash } = lookOf(index, tone)
        return {
          label,
          stroke: colourOf(colour),
          dash: [...dash],
          width: 2,
          points: { show: false },
        }
      }),
    ],
    hooks: { setCursor: [(plot) => sayValues(block, plot, timeZone)] },
    tzDate: (seconds: number) =>
      uPlot.tzDate(new Date(seconds * 1000), timeZone === 'UTC' ? 'Etc/UTC' : timeZone),
  }
  return new uPlot(options, [times, ...lines.map(({ values }) => values)], block)
}

/** The date where a day begins and on the first tick, hours and minutes between. */
function ticks(timeZone: string) {
  const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone })
  const time = new Intl.DateTimeFormat(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23', // as everywhere in the console
    timeZone,
  })
  return (_: uPlot, splits: number[], __: number, ___: number, step: number) =>
    splits.map((seconds, index) => {
      const at = new Date(seconds * 1000)
      const before = splits[index - 1]
      const isNewDay =
        before === undefined || day.format(at) !== day.format(new Date(before * 1000))
      if (step >= DAY_SECONDS) return day.format(at)
      return isNewDay ? `${time.format(at)}\n${day.format(at)}` : time.format(at)
    })
}

/** Under the pointer the legend tells of that moment; else of the whole time. */
function sayValues(block: HTMLElement, plot: uPlot, timeZone: string) {
  const figure = block.closest('figure')
  const index = plot.cursor.idx
  const isOver = index != null && (plot.cursor.left ?? -1) >= 0
  const places = figure?.querySelectorAll<HTMLElement>('[data-value]') ?? []
  for (const [line, place] of [...places].entries()) {
    place.dataset['whole'] ??= place.textContent
    const value = isOver ? plot.data[line + 1]?.[index] : undefined
    place.textContent = isOver ? (value == null ? '' : FULL.format(value)) : place.dataset['whole']
  }
  const caption = figure?.querySelector<HTMLElement>('figcaption')
  if (!caption) return
  caption.dataset['whole'] ??= caption.textContent
  const seconds = isOver ? plot.data[0][index] : undefined
  const [first = 0, second = 0] = plot.data[0]
  const written = dateTimeFormat(timeZone, second - first < DAY_SECONDS)
  caption.textContent =
    seconds === undefined ? caption.dataset['whole'] : written.format(new Date(seconds * 1000))
}

// last: what is above has to be there
for (const block of document.querySelectorAll<HTMLElement>('[data-chart]')) show(block)
