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
  return tokens.flatMap((token, at) => {
    const [one = '', two = '', three = ''] = tokens.slice(at + 1, at + 4)
    const shown = [token, one, two, three].join('')
    if (token === 'process')
      return isPlainProcess(tokens.slice(at + 1, at + 5)) || one === ':' ? [] : [shown]
    if (token === '.' && one === 'constructor') return [shown]
    if (/^(?:globalThis|global|getBuiltinModule)$/.test(token)) return [shown]
    const isCall = one === '('
    if (token === 'require' || (token === 'import' && isCall))
      return isCall && isText(two) && three === ')' ? [] : [shown]
    return []
  })
}

/** Modules by their names, relative ones as they stand. */
export function modulesOf(text: string, path: string): string[] {
  if (!SCRIPT.test(path)) return []
  const tokens = codeTokens(text, path)
  return tokens.flatMap((token, at) => {
    const behind = tokens[at - 1] ?? ''
    const before = tokens[at - 2] ?? ''
    const isNamed =
      /^(?:from|import)$/.test(behind) || (behind === '(' && /^(?:require|import)$/.test(before))
    return isNamed && isText(token) ? [token.slice(1, -1)] : []
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
