/** Guides of a service that is not to be trusted, or of a model that was talked into something. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { startAnalyzer } from '../../../support/analyzer-program.ts'
import { everything, isForPeople, shop } from '../../../support/strange-shop.ts'

void t.test('a guide with paths of Windows, or of anywhere else, is refused whole', async (t) => {
  const { run } = await (await startAnalyzer(t)).tenant(t)
  const guide = { edits: [] as object[] }
  const service = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://x').pathname
    response.setHeader('Content-Type', 'application/json')
    if (path === '/api/v1/integration')
      return void response.end(
        JSON.stringify({
          tenant_id: 'acme', name: 'acme', mode: 'gateway', status: 'published',
          protection: 'pass-through', edge_urls: {}, origin: 'http://127.0.0.1:9',
          health: '/health', sealed: [], excluded: [], issuer: 'http://x', client_id: 'acme-user',
          integration_completed_at: null,
        }), // prettier-ignore
      )
    if (path === '/api/v1/guide')
      return void response.end(
        JSON.stringify({
          guide_id: 'g1', framework: 'express', created_at: '2026-11-21T12:00:00.000Z',
          commands: [], notes: [], ...guide,
        }), // prettier-ignore
      )
    response.writeHead(404).end('{"error":"not_published","detail":"No."}')
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    service.closeAllConnections()
    service.close()
  })
  const { port } = service.address() as AddressInfo
  const environment = {
    SERVICE_BASE_URL: `http://127.0.0.1:${port}`,
    SERVICE_ANALYZER_KEY: `sak_${'g'.repeat(43)}`,
  }
  const good = { path: 'src/service.js', action: 'create', content: 'export {}\n' }
  for (const path of [
    'src\\server.js',
    '..\\..\\evil.js',
    'C:\\Windows\\evil.js',
    'C:evil.js',
    '\\\\server\\share\\evil.js',
    '../evil.js',
    '/etc/evil.js',
    'src/../../evil.js',
    '.git/hooks/pre-commit',
    '.GIT/config',
    'node_modules/x/index.js',
    '.npmrc',
    'a\u0000.js',
    'CON.js:stream',
  ]) {
    const folder = shop(t)
    const before = everything(folder)
    guide.edits = [good, { path, action: 'create', content: 'x' }]
    const ended = await run(['apply', '--yes'], { folder, environment })
    t.not(ended.code, 0, path)
    t.equal(everything(folder), before, `${JSON.stringify(path)}: nothing of it was written`)
    isForPeople(t, ended)
  }
  const folder = shop(t)
  guide.edits = [good]
  t.match(await run(['apply', '--yes'], { folder, environment }), { code: 0 })
  t.equal(readFileSync(join(folder, 'src/service.js'), 'utf8'), 'export {}\n', 'a good one is')
})
