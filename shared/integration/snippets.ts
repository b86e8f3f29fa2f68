/**
 * Code to paste, one whole program or file per framework, a room per language. Each runs as it
 * stands with SERVICE_BASE_URL and SERVICE_TENANT_ID set, and with nothing set once it names them
 * (`snippetsFor`), and is run by a test wherever its language is there.
 */
import { CSHARP } from './snippets/csharp.ts'
import { withDefaults, type KnownService } from './snippets/defaults.ts'
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

/** Of one tenant: its code names the service and the tenant. */
export function snippetsFor(service: { readonly baseUrl: string; readonly tenantId: string }) {
  return Object.fromEntries(
    Object.entries(snippets(service.baseUrl)).map(([name, { edge, sdk }]) => {
      const named = (snippet: Snippet): Snippet => ({
        ...snippet,
        code: codeFor(name, snippet.code, service),
      })
      return [name, { edge: named(edge), ...(sdk && { sdk: named(sdk) }) }]
    }),
  )
}

/** Code of a framework's snippet, or what was made of it, with the service and the tenant named. */
export function codeFor(framework: string, code: string, service: KnownService): string {
  return withDefaults(code, TABLE[framework]?.language ?? '', service)
}

function mapped<T>(part: (framework: FrameworkSnippet) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(TABLE).map(([name, entry]) => [name, part(entry)]))
}
