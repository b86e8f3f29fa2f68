/** Figures as programs tell them to Prometheus, and what an expression asks of them. */

type Labels = Readonly<Record<string, string>>

export interface Told {
  /** Each metric with the labels of all that was told of it. */
  readonly seriesByName: ReadonlyMap<string, readonly Labels[]>
}

const SERIES = /^([a-z_:]+)(?:\{(.*)\})? \S+$/gim
const LABEL = /([a-z_]+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"/g

export function toldIn(text: string): Told {
  const seriesByName = new Map<string, Labels[]>()
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+)/gm)) seriesByName.set(name, [])
  for (const [, name = '', inside = ''] of text.matchAll(SERIES)) {
    const labels = [...inside.matchAll(LABEL)].map(([, key = '', , value = '']) => [key, value])
    const known = seriesByName.get(name) ?? []
    seriesByName.set(name, [...known, Object.fromEntries(labels) as Labels])
  }
  return { seriesByName }
}

/** Which every series has besides, because it was scraped. */
const OF_TARGETS = ['instance', 'job']
const ASKED = /\b((?:gateway|control_plane)_[a-z_]+)(?:\{([^}]*)\})?/g
const GROUPED = /\b(?:by|without|on|ignoring) \(([^)]*)\)/g

/** What an expression asks for that nobody tells; `shown`: labels that a text beside it names. */
export function missingIn(
  expression: string,
  shown: readonly string[],
  { seriesByName }: Told,
): string[] {
  const asked = [...expression.matchAll(ASKED)]
  const grouped = [...expression.matchAll(GROUPED)].flatMap(([, labels = '']) =>
    labels.split(/,\s*/),
  )
  const isSummed = /\b(?:sum|min|max|avg|count)\b/.test(expression)
  const wrong = asked.flatMap(([, name = '', selector = '']) => {
    const series = seriesByName.get(name)
    if (series === undefined) return [`there is no ${name}`]
    const labels = new Set([...OF_TARGETS, ...series.flatMap((one) => Object.keys(one))])
    return [
      // a histogram is told in parts
      ...(selector === '' || series.some((one) => isMeant(one, selector))
        ? []
        : [`there is no ${name}{${selector}}`]),
      ...grouped.filter((label) => !labels.has(label)).map((label) => `${name} has no ${label}`),
      ...(isSummed ? [] : shown.filter((label) => !labels.has(label))).map(
        (label) => `${name} has no ${label}`,
      ),
    ]
  })
  const left = isSummed ? shown.filter((label) => !grouped.includes(label)) : []
  return [...wrong, ...left.map((label) => `${label} is summed away`)]
}

function isMeant(labels: Labels, selector: string): boolean {
  return [...selector.matchAll(LABEL)].every(([, key = '', how, value = '']) => {
    const told = labels[key]
    if (told === undefined) return OF_TARGETS.includes(key)
    const isSame = /~/.test(how ?? '') ? new RegExp(`^(?:${value})$`).test(told) : told === value
    return isSame === !how?.startsWith('!')
  })
}
