/** What an expression may come to, and how the code asks for what it does not say itself. */
import { keyOf } from '../../syntax/bindings.ts'
import { bare } from '../../syntax/references.ts'
import { literal } from '../../syntax/texts.ts'
import type { Node } from '@babel/types'
import type { Step } from './callbacks.ts'
import type { Spot } from './codebase.ts'

export type Value = string | number | boolean

export interface Outcome {
  readonly at: Spot
  /** null: nothing in the code says it. */
  readonly value: Value | null
  /** Where nothing says it, how the code asks for it: `process`, `env`, `PORT`. */
  readonly way: readonly string[]
}

/** Said by the environment, if by anything. */
export function isOfEnvironment({ value, way }: Outcome): boolean {
  return value === null && (way[0] === 'process' || way.slice(0, -1).includes('env'))
}

/** Said by the command line, if by anything. */
export function isOfCommand({ value, way, at: { source, node } }: Outcome): boolean {
  if (value !== null) return false
  const { start, end } = node
  return way.includes('argv') || /process\.argv/.test(source.text.slice(start ?? 0, end ?? 0))
}

/** Many ways may lead to the same. */
export function distinct(found: readonly Outcome[]): Outcome[] {
  const keys = new Set<string>()
  return found.filter(({ value, way, at }) => {
    const key = `${typeof value} ${value} ${way.join('.')} ${at.source.path} ${at.node.start}`
    return !keys.has(key) && keys.add(key)
  })
}

/** What is there for sure leaves the rest aside. */
export function orElse(found: Outcome[], rest: () => Outcome[]): Outcome[] {
  const isSaid = found.length > 0 && found.every(({ value }) => value !== null)
  return isSaid ? found : [...found, ...rest()]
}

export const firstOf = (found: readonly Outcome[]) =>
  found.find(({ value }) => value !== null)?.value ?? null

export function open({ source, node, members }: Step): Outcome {
  return { at: { source, node }, value: null, way: [...wayTo(node), ...members] }
}

/** `config.get('www:port')` is `config`, `www`, `port`. */
export function wayTo(node: Node): string[] {
  if (node.type === 'Identifier') return [node.name]
  if (node.type === 'MetaProperty') return [node.meta.name]
  if (node.type === 'MemberExpression' || node.type === 'OptionalMemberExpression') {
    const key = keyOf(node.property)
    return key === null ? [] : [...wayTo(bare(node.object)), key]
  }
  if (node.type !== 'CallExpression') return []
  const asked = literal(node.arguments[0])
  if (asked !== null && /^[\w.:-]{1,60}$/.test(asked)) return asked.split(/[.:]/)
  const { callee } = node
  const name = keyOf(callee.type === 'MemberExpression' ? callee.property : callee)
  return name !== null && /^get\w*Port$/.test(name) ? ['port'] : []
}
