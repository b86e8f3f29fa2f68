/** Lines of offsets: both count as editors do, lines from 1. */
import type { Node } from '@babel/types'
import type { Source } from './parse.ts'

export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1))
    line++
  return line
}

export function lineOf(source: Pick<Source, 'text'>, node: Node): number {
  return node.loc?.start.line ?? lineAt(source.text, startOf(node))
}

export function placeOf(source: Source, node: Node) {
  return { path: source.path, line: lineOf(source, node) }
}

/** The parser sets both on every node that it makes. */
export const startOf = (node: Node): number => node.start ?? 0
export const endOf = (node: Node): number => node.end ?? 0

export const textOf = ({ text }: Pick<Source, 'text'>, node: Node): string =>
  text.slice(startOf(node), endOf(node))
