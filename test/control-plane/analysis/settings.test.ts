import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { request } from 'undici'
import { AI_KEY, startAiProvider } from '../../support/ai-provider.ts'
import { temporaryFolder } from '../../support/control-plane.ts'
import { freePort } from '../../support/ports.ts'
import { Program, SECRETS } from '../../support/programs.ts'
import { FILES, GOOD } from './analysis-world.ts'

interface Teardown {
  teardown(work: () => unknown): void
}

async function start(t: Teardown, ai: string, environment: Record<string, string> = {}) {
  const folder = temporaryFolder(t)
  const [port, fleetPort] = [await freePort(), await freePort()]
  const config = join(folder, 'config.yaml')
  writeFileSync(
    config,
    `base_url: http://localhost:${port}
data_dir: ${folder}/data
control_plane: { listen: "127.0.0.1:${port}", fleet_listen: "127.0.0.1:${fleetPort}" }
ai: ${ai}
`,
  )
  const program = new Program('control-plane/main.ts', ['--config', config], {
    ...SECRETS,
    ...environment,
  })
  t.teardown(() => program.stop('SIGKILL'))
  const call = async (path: string, key: string, body: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const url = `http://127.0.0.1:${port}${path}`
    const answer = await request(url, { method: 'POST', headers, body: JSON.stringify(body) })
    const read = (await answer.body.json()) as Record<string, unknown>
    return { status: answer.statusCode, body: read }
  }
  return { program, call }
}

void t.test('what is missing for a provider is one line that says so', async (t) => {
  for (const [ai, environment, line] of [
    ['{provider: anthropic}', { SERVICE_AI_KEY: 'x' }, 'ai.model: expected a model name'],
    ['{provider: openai, model: m}', {}, 'SERVICE_AI_KEY: expected an API key for the provider'],
    ['{provider: openai, model: m}', { SERVICE_AI_KEY: '' }, 'SERVICE_AI_KEY: expected an API key'],
    [
      '{provider: openai, model: m}',
      { SERVICE_AI_KEY: 'a b' },
      'SERVICE_AI_KEY: expected printable',
    ],
  ] as const) {
    const { program } = await start(t, ai, environment)
    t.equal(await program.exited, 2, line)
    t.match(program.output, line)
    t.notMatch(program.output, /\n\s+at |a b/)
  }
})

void t.test(
  'the program asks the provider of its settings, with the key of its environment',
  async (t) => {
    for (const kind of ['anthropic', 'openai'] as const) {
      const provider = await startAiProvider(t, kind)
      provider.says(GOOD)
      const base = provider.settings().baseUrl
      const ai = `{provider: ${kind}, model: some-model, base_url: "${base}", output_tokens: 777}`
      const { program, call } = await start(t, ai, { SERVICE_AI_KEY: AI_KEY })
      await program.ready
      const tenant = {
        tenant_id: 'acme',
        hostnames: ['acme.localhost'],
        origin: 'http://127.0.0.1:9000',
      }
      const created = await call('/api/v1/operator/tenants', SECRETS.SERVICE_OPERATOR_KEY, tenant)
      const key = String(created.body['analyzer_key'])
      t.match(await call('/api/v1/ai-analyze', key, { files: FILES }), { status: 200 })
      t.match(provider.asked, [{ model: 'some-model', outputTokens: 777 }])
      t.strictSame(provider.problems, [])
      provider.says({ status: 401, body: AI_KEY })
      t.match(await call('/api/v1/ai-analyze', key, { files: FILES }), { status: 502 })
      t.equal(await program.stop('SIGTERM'), 0)
      t.match(program.output, 'ai_provider_refused')
      t.notMatch(program.output, AI_KEY)
    }
  },
)
