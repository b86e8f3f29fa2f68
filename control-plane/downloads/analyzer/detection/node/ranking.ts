/** Which of several applications of one start is the one that people mean. */
import { methodCall } from '../../syntax/bindings.ts'
import type { Source } from '../../syntax/parse.ts'
import { ancestorsOf } from '../../syntax/walk.ts'
import type { Making } from './makings.ts'

/** Runs once, or beside the application: to set it up, to look after it. */
const BESIDE =
  /(?:^|\/)(?:install(?:er)?|setup|migrations?|scripts?|tools?|mocks?|dev(?:elop(?:ment)?)?)(?:\/|\.[cm]?[jt]s$)/i

export const isBeside = (path: string) => BESIDE.test(path)

/** The others stay in their order, which is the distance from what is started. */
export function byImportance(makings: readonly Making[]): Making[] {
  const rank = (making: Making) =>
    (BESIDE.test(making.source.path) ? 2 : 0) +
    (onlyRedirects(making) || onlyReports(making) || isOneOfMany(making) ? 1 : 0)
  return makings.toSorted((a, b) => rank(a) - rank(b))
}

/** Made for each of a list: of tenants, of proxies, of parts. */
function isOneOfMany({ source, node }: Making): boolean {
  return [...ancestorsOf(source.parents, node)].some((around) => {
    if (/^(?:For\w*|While|DoWhile)Statement$/.test(around.type)) return true
    const called = methodCall(around)
    return /^(?:forEach|map|each)$/.test(called?.name ?? '')
  })
}

/** From http to https: `app.use((req, res) => res.redirect(…))` and nothing else. */
function onlyRedirects(making: Making): boolean {
  const handled = handledBy(making)
  return handled.length > 0 && handled.every((text) => /\bredirect\b|\b30[1278]\b/.test(text))
}

const REPORTS = /^[^'"`]{0,200}['"`]\/(?:metrics|health\w*|livez?|readyz?|stats|ping)\/?['"`]/

/** Figures for those who look after it: `app.get('/metrics', …)` and nothing else. */
function onlyReports(making: Making): boolean {
  const handled = handledBy(making)
  return handled.length > 0 && handled.every((text) => REPORTS.test(text))
}

/** The calls that add to it, in the file where it is made. */
function handledBy({ source, node }: Making): string[] {
  const parent = source.parents.get(node)
  if (parent?.type !== 'VariableDeclarator' || parent.id.type !== 'Identifier') return []
  const binding = source.bindings.resolve(parent.id)
  return source.nodes.flatMap((one) => {
    const called = methodCall(one)
    const isOfIt =
      called?.object.type === 'Identifier' && source.bindings.resolve(called.object) === binding
    return isOfIt &&
      /^(?:use|get|all|post|put|patch|delete|register|route)$/.test(called.name ?? '')
      ? [textOf(source, one)]
      : []
  })
}

function textOf({ text }: Source, { start, end }: { start?: number | null; end?: number | null }) {
  return text.slice(start ?? 0, end ?? 0).slice(0, 4000)
}
