/** Scripts of PowerShell, read by a grammar of it: there is no Windows here to run them on. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

/** What is used of a package that has types for another way of loading it. */
interface Node {
  readonly type: string
  readonly text: string
  readonly hasError: boolean
  readonly startPosition: { readonly row: number }
  descendantsOfType(type: string): readonly (Node | null)[]
}
interface TreeSitter {
  readonly Parser: {
    init(): Promise<void>
    new (): { setLanguage(language: object): void; parse(text: string): { rootNode: Node } }
  }
  readonly Language: { load(grammar: Uint8Array): Promise<object> }
}

const require = createRequire(import.meta.url)

/** The tree of a script; `hasError` where PowerShell would not take it. */
export async function createPowerShellParser() {
  const { Parser, Language } = require('@vscode/tree-sitter-wasm') as TreeSitter
  await Parser.init()
  const grammar = require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-powershell.wasm')
  const parser = new Parser()
  parser.setLanguage(await Language.load(await readFile(grammar)))
  return (script: string) => parser.parse(script).rootNode
}

export const texts = (node: Node, type: string) =>
  node.descendantsOfType(type).flatMap((found) => found?.text ?? [])
