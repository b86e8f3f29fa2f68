/** What a Gemfile asks for, and for which groups. */
import { hits, placeAt, sourceOf, stringsBetween, type Source } from '../source/source.ts'
import { byName, type Dependencies } from './dependencies.ts'

const FOR_DEVELOPERS = /:(?:development|test|ci|lint|tools?)\b/

export function gemsIn(path: string, text: string): Dependencies {
  const source = sourceOf(path, text)
  const gems = hits(source, /^[ \t]*gem[ (]\s*(?=["'])/m).flatMap(({ index, end }) => {
    // options may go on behind a comma at the end of the line
    const [statement = ''] = /^[^\n]*(?:,\s*\n[^\n]*)*/.exec(source.code.slice(end)) ?? []
    const [name, ...more] = stringsBetween(source, end, end + statement.length)
    if (name === undefined) return []
    const version = more.find(({ value }) => /^[~><=!]*\s*\d/.test(value))?.value ?? null
    const isDev = /\bgroups?\b/.test(statement)
      ? FOR_DEVELOPERS.test(statement)
      : isInGroup(source, index)
    return [{ name: name.value, version, isDev, at: placeAt(source, name.index) }]
  })
  return byName(gems)
}

/** `group :development, :test do … end` */
function isInGroup({ code }: Source, index: number): boolean {
  const open: boolean[] = []
  for (const line of code.slice(0, index).split('\n')) {
    if (/\bdo\b\s*(?:\|[^|]*\|)?\s*$/.test(line) || /^\s*(?:if|unless|case)\b/.test(line))
      open.push(
        /^\s*group\b/.test(line) && FOR_DEVELOPERS.test(line) && !/:production\b/.test(line),
      )
    else if (/^\s*end\b/.test(line)) open.pop()
  }
  return open.includes(true)
}
