import t from 'tap'
import { startApi } from '../../support/api.ts'

const REFUSED = 'This request carries no valid sign-in. Open the application at its public address.'

const BESIDE_JAVASCRIPT = {
  django: 'python',
  flask: 'python',
  fastapi: 'python',
  rails: 'ruby',
  laravel: 'php',
  spring: 'java',
  aspnet: 'csharp',
  go: 'go',
} as const

t.test('the contract has code to paste for every framework that it names', async (t) => {
  const { call } = await startApi(t)
  const { body } = await call('GET', '/api/v1/contract', undefined, { key: null })
  const frameworks = body['frameworks'] as Record<string, Record<string, unknown>>
  const snippets = body['snippets'] as Record<string, Record<string, Record<string, unknown>>>
  t.same(Object.keys(snippets), Object.keys(frameworks))
  for (const [framework, language] of Object.entries(BESIDE_JAVASCRIPT)) {
    t.match(frameworks[framework], { language, modes: ['gateway', 'connector'] }, framework)
    const { install, file, code } = snippets[framework]?.['edge'] ?? {}
    t.type(install, 'string')
    t.match(file, /^[\w/.]+\.(?:py|rb|php|java|cs|go)$/)
    for (const name of ['SERVICE_BASE_URL', 'SERVICE_TENANT_ID', 'SERVICE_PUBLIC_KEY_FILE'])
      t.ok(String(code).includes(name), `${framework} reads ${name}`)
    t.notMatch(code, /\t /, 'indented in one way')
    if (['laravel', 'go', 'aspnet'].includes(framework))
      t.ok(String(code).includes(REFUSED), `${framework} says what to do next`)
  }
})
