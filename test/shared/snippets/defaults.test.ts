/** Whose application it is, is in the code that is pasted into it. */
import t from 'tap'
import { codeFor, snippets, snippetsFor } from '../../../shared/integration/snippets.ts'

const SERVICE = { baseUrl: 'https://id.example.com', tenantId: 'acme' }

t.test(
  'every snippet of a tenant names the service and the tenant, behind the environment',
  (t) => {
    for (const [framework, { edge, sdk }] of Object.entries(snippetsFor(SERVICE)))
      for (const { code } of [edge, ...(sdk ? [sdk] : [])])
        for (const [name, value] of Object.entries({
          SERVICE_BASE_URL: 'https://id.example.com',
          SERVICE_TENANT_ID: 'acme',
        })) {
          const line = code.split('\n').find((text) => text.includes(name)) ?? ''
          t.match(line, new RegExp(`${name}\\b.*${value}`), framework)
          t.notMatch(line, /throw|environ\[/, framework)
        }
    t.end()
  },
)

t.test('of nobody it names none', (t) => {
  const { django } = snippets(SERVICE.baseUrl)
  t.notMatch(django?.edge.code, SERVICE.baseUrl)
  const nobody = { ...SERVICE, tenantId: null }
  t.equal(codeFor('django', django?.edge.code ?? '', nobody), django?.edge.code)
  t.end()
})

t.test('an address ends no text that it stands in', (t) => {
  const baseUrl = `https://id.example.com/'"\\\${x}\``
  for (const { edge } of Object.values(snippetsFor({ baseUrl, tenantId: 'acme' })))
    t.match(edge.code, 'https://id.example.com/%27%22%5c%24%7bx%7d%60')
  t.end()
})
