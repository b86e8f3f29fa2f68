/** How a file is written, so that a line of ours reads like its others. */
import type { Node } from '@babel/types'
import { moduleOfCall } from '../syntax/imports.ts'
import type { Source } from '../syntax/parse.ts'
import { endOf, textOf } from '../syntax/places.ts'

export interface Style {
  readonly quote: "'" | '"'
  readonly semicolon: ';' | ''
  readonly lineBreak: '\n' | '\r\n'
  /** One step of indentation. */
  readonly step: string
  /** Between the braces of an import. */
  readonly space: ' ' | ''
  /** `var` where nothing else is known to the file. */
  readonly constant: 'const' | 'var'
}

const ENDED_BY_SEMICOLON: ReadonlySet<string> = new Set([
  'ExpressionStatement',
  'VariableDeclaration',
  'ImportDeclaration',
  'ReturnStatement',
])

export function styleOf(source: Source): Style {
  const { text, nodes } = source
  let [semicolons, without, single, double, constants, variables] = [0, 0, 0, 0, 0, 0]
  for (const node of nodes) {
    if (node.type === 'StringLiteral') {
      const first = text[node.start ?? 0]
      const weight = isModuleName(source, node) ? MODULE_NAME_WEIGHT : 1
      if (first === "'") single += weight
      else if (first === '"') double += weight
    }
    if (node.type === 'VariableDeclaration') {
      if (node.kind === 'var') variables++
      else constants++
      if (source.parents.get(node)?.type.startsWith('For') === true) continue
    }
    if (!ENDED_BY_SEMICOLON.has(node.type)) continue
    if (text[endOf(node) - 1] === ';') semicolons++
    else without++
  }
  const lines = text.split('\n').length - 1
  const carriageReturns = text.split('\r\n').length - 1
  return {
    quote: double > single ? '"' : "'",
    semicolon: semicolons >= without && semicolons > 0 ? ';' : '',
    lineBreak: carriageReturns * 2 > lines ? '\r\n' : '\n',
    step: stepOf(text),
    space: hasTightBraces(source) ? '' : ' ',
    constant: variables > 0 && constants === 0 ? 'var' : 'const',
  }
}

/** What stands next to our import tells more than all the texts of a file. */
const MODULE_NAME_WEIGHT = 1000

function isModuleName(source: Source, node: Node): boolean {
  const parent = source.parents.get(node)
  if (parent?.type === 'ImportDeclaration') return true
  return parent?.type === 'CallExpression' && moduleOfCall(source, parent) !== null
}

/** A tab, or as many spaces as the least indented line has. */
export function stepOf(text: string): string {
  const indents = [...text.matchAll(/^([ \t]+)(?![ \t*])\S/gm)].map(([, indent = '']) => indent)
  if (indents.some((indent) => indent.startsWith('\t'))) return '\t'
  const shortest = Math.min(...indents.map((indent) => indent.length))
  return ' '.repeat(Number.isFinite(shortest) && shortest > 1 && shortest <= 8 ? shortest : 2)
}

function hasTightBraces(source: Source): boolean {
  const imports = source.nodes.filter(({ type }) => type === 'ImportDeclaration')
  const texts = imports.map((node) => textOf(source, node))
  return texts.some((text) => /\{\S/.test(text)) && !texts.some((text) => /\{\s/.test(text))
}
