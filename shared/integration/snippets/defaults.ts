/**
 * Code to paste with service and tenant in it: neither is a secret, and an application that it was
 * pasted into starts with nothing set. The environment goes first, for whoever has a tenant for tests.
 */

export interface KnownService {
  readonly baseUrl: string
  /** null: nobody has said whose application it is. */
  readonly tenantId: string | null
}

/** How a language reads a setting that must be there, and how one that need not. */
type Reading = (name: string, value: string) => readonly [required: string, otherwise: string]

const READINGS: Readonly<Record<string, Reading>> = {
  python: (name, value) => [`os.environ['${name}']`, `os.environ.get('${name}', '${value}')`],
  ruby: (name, value) => [`ENV.fetch('${name}')`, `ENV.fetch('${name}', '${value}')`],
  php: (name, value) => [
    `env('${name}') ?? throw new RuntimeException('${name} is not set')`,
    `env('${name}', '${value}')`,
  ],
  java: (name, value) => [`\${${name}}`, `\${${name}:${value}}`],
  csharp: (name, value) => [
    `settings["${name}"] ?? throw new InvalidOperationException("${name} is not set")`,
    `settings["${name}"] ?? "${value}"`,
  ],
  go: (name, value) => [`setting("${name}", "")`, `setting("${name}", "${value}")`],
}

/** `code` is a snippet, or what was made of one; where the tenant is not known, it stays as it is. */
export function withDefaults(code: string, language: string, service: KnownService): string {
  const { baseUrl, tenantId } = service
  if (!tenantId) return code
  if (/^(?:java|type)script$/.test(language)) return guardedBy(code, service)
  const reading = READINGS[language]
  if (reading === undefined) return code
  const values = [
    ['SERVICE_BASE_URL', baseUrl],
    ['SERVICE_TENANT_ID', tenantId],
  ] as const
  return values.reduce((text, [name, value]) => {
    const [required, otherwise] = reading(name, quotable(value))
    return text.replace(required, () => otherwise)
  }, code)
}

/** `verifyClaims()`, which reads the environment by itself. */
function guardedBy(code: string, service: KnownService): string {
  return code.replace(
    /^( *)(.*)\b(verifyClaims|enforce)\(\)/m,
    (_, blanks: string, before: string, guard: string) => {
      const settings = javascriptSettings("'", service)
      const lines = settings.map((setting) => `\n${blanks}  ${setting},`).join('')
      return `${blanks}${before}${guard}({${lines}\n${blanks}})`
    },
  )
}

/** Members of what `verifyClaims({ … })` is given; none where the tenant is not known. */
export function javascriptSettings(quote: string, { baseUrl, tenantId }: KnownService): string[] {
  if (!tenantId) return []
  const text = (value: string) => quote + quotable(value) + quote
  return [
    `baseUrl: process.env.SERVICE_BASE_URL ?? ${text(baseUrl)}`,
    `tenantId: process.env.SERVICE_TENANT_ID ?? ${text(tenantId)}`,
  ]
}

/** An address can be written without what ends a text, or begins an expression in one. */
function quotable(value: string): string {
  return value.replace(/['"`\\${}]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)
}
