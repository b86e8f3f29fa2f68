/**
 * JavaScript and TypeScript of strangers as a syntax tree. Nothing of it is ever run. `node.start`
 * and `node.end` are offsets into `source.text`, which is to be without its byte order mark.
 */
import { parse, type ParserOptions } from '@babel/parser'
import type { Comment, File, Node } from '@babel/types'
import { LIMITS } from '../../../../shared/limits.ts'
import { bindingsOf, type Bindings } from './bindings.ts'
import { nodesOf } from './walk.ts'

export interface Source {
  /** Relative to the project's root. */
  readonly path: string
  readonly text: string
  readonly file: File
  readonly comments: readonly Comment[]
  /** How this file imports, and so how an import is added to it. */
  readonly modules: 'esm' | 'commonjs'
  /** Every node, a parent before its children. */
  readonly nodes: readonly Node[]
  readonly parents: ReadonlyMap<Node, Node>
  readonly bindings: Bindings
  /** Modules of the project that have the middleware, as this file names them; absent: nobody looked. */
  readonly services?: ReadonlySet<string> | undefined
}

/** `type` of the nearest package.json. */
export type PackageType = 'module' | 'commonjs' | undefined

export type Parsed = { readonly source: Source } | { readonly problem: string }

export const SOURCE_EXTENSIONS = ['.js', '.mjs', '.cjs', '.jsx', '.ts', '.mts', '.cts', '.tsx']

export function parseSource(path: string, text: string, packageType?: PackageType): Parsed {
  if (text.length > LIMITS.analyzerSourceCharactersMax)
    return { problem: `is longer than ${LIMITS.analyzerSourceCharactersMax} characters` }
  let problem = ''
  for (const sourceType of sourceTypesOf(path, packageType))
    try {
      return sourceFrom(path, text, parseAs(path, text, sourceType), packageType)
    } catch (error) {
      problem ||= problemOf(error)
    }
  return { problem }
}

type SourceType = NonNullable<ParserOptions['sourceType']>

/** Later ones are for what older Node takes: `with`, octal numbers, a `return` outside functions. */
function sourceTypesOf(path: string, packageType: PackageType): readonly SourceType[] {
  if (/\.m[jt]s$/.test(path)) return ['module']
  if (path.endsWith('.cjs')) return ['commonjs']
  return packageType === 'module' ? ['module', 'commonjs'] : ['unambiguous', 'commonjs']
}

function parseAs(path: string, text: string, sourceType: SourceType): File {
  return parse(text, {
    sourceType,
    plugins: pluginsOf(path, text),
    errorRecovery: false,
    attachComment: false,
    ...(sourceType === 'commonjs' ? {} : { allowAwaitOutsideFunction: true }),
  })
}

/** JSX in `.ts` would forbid `<T>value`; parameters have decorators in the older proposal only. */
function pluginsOf(path: string, text: string): NonNullable<ParserOptions['plugins']> {
  if (/\.[mc]?ts$/.test(path)) return ['typescript', 'decorators-legacy']
  if (path.endsWith('.tsx')) return ['typescript', 'jsx', 'decorators-legacy']
  return /@flow\b/.test(text.slice(0, 1000))
    ? ['jsx', 'flow', 'decorators']
    : ['jsx', 'decorators', 'decoratorAutoAccessors']
}

function sourceFrom(path: string, text: string, file: File, packageType: PackageType): Parsed {
  const walked = nodesOf(file)
  if (walked === null) return { problem: TOO_DEEP }
  const { nodes, parents } = walked
  const source: Source = {
    path,
    text,
    file,
    comments: file.comments ?? [],
    modules: modulesOf(path, file, nodes, packageType),
    nodes,
    parents,
    bindings: bindingsOf(file, nodes, parents),
  }
  return { source }
}

const TOO_DEEP = 'is too large, or nested too deeply'

function modulesOf(
  path: string,
  file: File,
  nodes: readonly Node[],
  packageType: PackageType,
): 'esm' | 'commonjs' {
  if (/\.m[jt]s$/.test(path)) return 'esm'
  if (importsIn(file)) return 'esm'
  if (nodes.some(isCommonJs)) return 'commonjs'
  return packageType === 'module' ? 'esm' : 'commonjs'
}

function importsIn({ program }: File): boolean {
  return program.body.some(({ type }) => /^(?:Import|Export\w+)Declaration$/.test(type))
}

function isCommonJs(node: Node): boolean {
  if (node.type === 'CallExpression') return isNamed(node.callee, 'require')
  if (node.type !== 'MemberExpression') return false
  return isNamed(node.object, 'module') && isNamed(node.property, 'exports')
}

const isNamed = (node: Node, name: string) => node.type === 'Identifier' && node.name === name

/** A parser that ran out of stack says so by a RangeError. */
function problemOf(error: unknown): string {
  if (error instanceof RangeError) return TOO_DEEP
  const said = error instanceof Error ? error.message : String(error)
  return `cannot be parsed: ${said.slice(0, 200)}`
}
