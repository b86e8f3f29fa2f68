/**
 * What JavaScript reaches by ways that no single word shows: through comments, aliases, constructors
 * and modules. Over tokens without comments, so that prose about a process is none.
 */
import { codeTokens } from './code-tokens.ts'

const SCRIPT = /\.(?:[cm]?[jt]sx?|vue|svelte)$/i
const ENVIRONMENT_ALLOWED = /^(?:SERVICE_\w+|PORT|HOST|NODE_ENV)$/
const OF_PROCESS_ALLOWED = /^(?:on|once|nextTick|uptime|pid)$/

/** Each as it is to be shown; the same one twice is there twice. */
export function reachesOf(text: string, path: string): string[] {
  if (!SCRIPT.test(path)) return []
  const tokens = codeTokens(text, path)
  return tokens.flatMap((token, at) =>
    STARTS.test(token) && isReach(tokens.slice(at, at + 5))
      ? [tokens.slice(at, at + 4).join('')]
      : [],
  )
}

/** Before anything else is asked of a token: there are as many as a file has words and signs. */
const STARTS = /^(?:process|\.|globalThis|global|getBuiltinModule|require|import)$/

function isReach([token, one = '', two = '', three = '', four = '']: readonly string[]): boolean {
  if (token === 'process') return !isPlainProcess([one, two, three, four]) && one !== ':'
  if (token === '.') return one === 'constructor'
  const isCall = one === '('
  if (token === 'import' && !isCall) return false
  if (token === 'require' || token === 'import') return !(isCall && isText(two) && three === ')')
  return true
}

/** Modules by their names, relative ones as they stand. */
export function modulesOf(text: string, path: string): string[] {
  if (!SCRIPT.test(path)) return []
  const tokens = codeTokens(text, path)
  return tokens.flatMap((token, at) => {
    if (!isText(token)) return []
    const behind = tokens[at - 1] ?? ''
    const before = tokens[at - 2] ?? ''
    const isNamed =
      /^(?:from|import)$/.test(behind) || (behind === '(' && /^(?:require|import)$/.test(before))
    return isNamed ? [token.slice(1, -1)] : []
  })
}

/** Down from the project's root, or a name of the snippet or the file itself. */
export function isWithin(module: string, path: string): boolean {
  if (!/^\.{1,2}(?:\/|$)/.test(module)) return false
  const ups = module.split('/').filter((name) => name === '..').length
  return ups < path.split('/').length
}

const isText = (token: string) => /^(["'])[^\\]*\1$/.test(token)

function isPlainProcess([dot, member = '', second = '', name = '']: readonly string[]): boolean {
  if (dot !== '.') return false
  if (member !== 'env') return OF_PROCESS_ALLOWED.test(member)
  if (second === '.') return ENVIRONMENT_ALLOWED.test(name)
  return second === '[' && isText(name) && ENVIRONMENT_ALLOWED.test(name.slice(1, -1))
}
