/**
 * Code to paste, one whole program or file per framework, a room per language. Each runs as it
 * stands with SERVICE_BASE_URL, SERVICE_TENANT_ID and SERVICE_PUBLIC_KEY_FILE set, and is run by a
 * test wherever its language is there.
 */
import { CSHARP } from './snippets/csharp.ts'
import { GO } from './snippets/go.ts'
import { JAVA } from './snippets/java.ts'
import { JAVASCRIPT } from './snippets/javascript.ts'
import { PHP } from './snippets/php.ts'
import { PYTHON } from './snippets/python.ts'
import { RUBY } from './snippets/ruby.ts'
import type { FrameworkSnippet, Snippet } from './snippets/snippet.ts'

const TABLE: Readonly<Record<string, FrameworkSnippet>> = {
  ...JAVASCRIPT,
  ...PYTHON,
  ...RUBY,
  ...PHP,
  ...JAVA,
  ...CSHARP,
  ...GO,
}

/** What the contract tells under `frameworks`: what there is, without the code. */
export const FRAMEWORKS = mapped(({ name, language, modes }) => ({ name, language, modes }))

/** And under `snippets`: the base address is where packages come from, and no value of a tenant. */
export function snippets(baseUrl: string) {
  const at = (snippet: Snippet): Snippet => ({
    ...snippet,
    install: snippet.install.replaceAll('{base_url}', baseUrl),
  })
  return mapped(({ edge, sdk }) => ({ edge: at(edge), ...(sdk && { sdk: at(sdk) }) }))
}

function mapped<T>(part: (framework: FrameworkSnippet) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(TABLE).map(([name, entry]) => [name, part(entry)]))
}
