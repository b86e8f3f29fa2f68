/** The lines that a person puts in by hand: those of the contract, with the names of their file. */
import { JAVASCRIPT } from '../../../../shared/integration/snippets/javascript.ts'
import type { FrameworkName } from '../detection/application.ts'
import type { Source } from '../syntax/parse.ts'
import { importCode } from './import-line.ts'
import { mountedFramework } from './mounted-frameworks.ts'
import { guardOf, type Wishes } from './wishes.ts'

export function snippetFor(
  name: FrameworkName,
  wishes: Wishes,
  receiver: string,
  modules: Source['modules'],
): string {
  const guard = guardOf(wishes)
  const framework = mountedFramework(name)
  if (framework === undefined) {
    const snippet = name === 'next' ? JAVASCRIPT.next : JAVASCRIPT.node
    return (guard === 'enforce' ? snippet.sdk : snippet.edge).code
  }
  const { method, adapter, remark } = framework
  const style = {
    quote: "'",
    semicolon: '',
    lineBreak: '\n',
    step: '  ',
    space: ' ',
    constant: 'const',
  } as const
  return [
    importCode(modules, style, { guard, local: guard }),
    '',
    `const service = ${guard}()`,
    `${receiver}.${method}(service.${adapter}()) // ${remark}`,
  ].join('\n')
}
