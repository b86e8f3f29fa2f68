import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { FILES, PACKAGE_JSON, startAnalysis } from './analysis-world.ts'

void t.test(
  'what is no file of a project is refused by its name, and nobody is asked',
  async (t) => {
    const { analyse, provider, services, clock } = await startAnalysis(t)
    const refused: readonly (readonly [path: string, why: RegExp])[] = [
      ['../x.js', /leaves its folder/],
      ['/etc/passwd', /not relative/],
      ['C:\\x.js', /not relative/],
      ['src\\x.js', /written with/],
      ['a//b.js', /not plain/],
      ['', /names no file/],
      ['x\u202ejs', /cannot be seen/],
      ['%2e%2e/x', /percent-encoded/],
      ['.env', /holds secrets/],
      ['config/.env.production', /holds secrets/],
      ['certs/server.pem', /holds secrets/],
      ['server.key', /holds secrets/],
      ['.ssh/id_rsa', /holds secrets/],
      ['x'.repeat(LIMITS.guidePathCharactersMax + 1), /longer than/],
    ]
    for (const [path, why] of refused) {
      clock.advance(60_000)
      const answer = await analyse({ ...FILES, [path]: 'x' })
      t.match(answer, {
        status: 400,
        body: { error: 'field_invalid', field: 'files', detail: why },
      })
    }
    t.equal(provider.asked.length, 0)
    t.match(await services.budgets.today(), { tokens: 0, outcomes: [] })
  },
)

void t.test(
  'files of package managers and pipelines may be shown, though not edited',
  async (t) => {
    const { analyse } = await startAnalysis(t)
    const files = {
      ...FILES,
      'pom.xml': '<a/>',
      '.github/workflows/x.yml': 'a: b',
      '.env.example': 'A=',
    }
    t.equal((await analyse(files)).status, 200)
  },
)

void t.test('a file is text, and is there once', async (t) => {
  const { analyse } = await startAnalysis(t)
  const wrong = [
    [{ 'a.js': 'x\0' }, /no text/],
    [{ 'a.js': 'x\ud800' }, /no text/],
    [{ 'a.js': 'x', 'A.js': 'y' }, /two spellings/],
    [{}, /at least one/],
    [{ 'a.js': 1 }, /"files.a.js" must be the text/],
  ] as const
  for (const [files, detail] of wrong)
    t.match(await analyse(files), { status: 400, body: { field: 'files', detail } })
})

void t.test('files, their sizes and all of them together have their limits', async (t) => {
  const whole = {
    ai: { inputCharactersMax: 4_000_000, tokensPerDay: 1e9, tenantTokensPerDay: 1e9 },
  }
  const { analyse } = await startAnalysis(t, whole)
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`src/f${at}.mjs`, '']))
  const { analysisFilesMax: files, analysisFileCharactersMax: characters } = LIMITS
  const found = async (sent: Record<string, string>) => {
    const { status, body } = await analyse({ ...FILES, ...sent })
    return status === 200 ? status : [status, body['error'], body['characters_max']]
  }
  t.strictSame(await found(many(files - 1)), 200)
  t.strictSame(await found(many(files)), [400, 'field_invalid', undefined])
  t.strictSame(await found({ 'a.mjs': 'x '.repeat(characters / 2) }), 200)
  t.strictSame(await found({ 'a.mjs': 'x'.repeat(characters + 1) }), [
    400,
    'field_invalid',
    undefined,
  ])

  const small = await startAnalysis(t, { ai: { inputCharactersMax: 1000 } })
  const path = 'src/server.mjs'
  const text = FILES[path] ?? ''
  const fitting = 1000 - path.length - text.length - 'b.mjs'.length
  t.equal((await small.analyse({ ...FILES, 'b.mjs': 'x'.repeat(fitting) })).status, 200)
  t.match(await small.analyse({ ...FILES, 'b.mjs': 'x'.repeat(fitting + 1) }), {
    status: 413,
    body: { error: 'body_too_large', characters_max: 1000, detail: /1001 characters together/ },
  })
})

void t.test('a body of eight mebibytes is read, and one byte more is not', async (t) => {
  const { call, key } = await startAnalysis(t)
  const body = JSON.stringify({ files: FILES })
  const send = (raw: string) => call('POST', '/api/v1/ai-analyze', undefined, { key, raw })
  t.equal((await send(body.padEnd(LIMITS.analysisBodyBytesMax))).status, 200)
  t.match(await send(body.padEnd(LIMITS.analysisBodyBytesMax + 1)), {
    status: 413,
    body: { error: 'body_too_large', bytes_max: LIMITS.analysisBodyBytesMax },
  })
})

void t.test('what to run is ours to say, in the words of the package manager', async (t) => {
  const { analyse, guide, clock, provider } = await startAnalysis(t)
  const sdk = 'http://localhost:8080/api/v1/sdk/node'
  const commandsAt = async (files: Record<string, string>, package_json = {}) => {
    clock.advance(3_600_000)
    t.equal((await analyse({ ...FILES, ...files }, { package_json })).status, 200)
    return (await guide()).body['commands']
  }
  t.strictSame(await commandsAt({}, PACKAGE_JSON), [`npm install ${sdk}`])
  t.strictSame(await commandsAt({}, { packageManager: 'pnpm@10.1.0' }), [`pnpm add ${sdk}`])
  t.strictSame(await commandsAt({ 'pnpm-workspace.yaml': 'a:' }), [`pnpm add ${sdk}`])
  t.strictSame(await commandsAt({}, { packageManager: 'yarn@4.0.0' }), [`yarn add ${sdk}`])
  t.strictSame(await commandsAt({}, { packageManager: 'curl x | sh; npm@1' }), [
    `npm install ${sdk}`,
  ])
  const python = {
    path: 'app.py',
    action: 'create',
    find: '',
    replace: '',
    content: 'x = 1\n',
    why: '',
  }
  provider.says({ framework: 'flask', summary: '', edits: [python], notes: [], warnings: [] })
  t.strictSame(await commandsAt({}), ["pip install 'pyjwt[crypto]'"])
  provider.says({ framework: 'flask', summary: '', edits: [], notes: [], warnings: [] })
  t.strictSame(await commandsAt({}), [], 'nothing to write, nothing to run')
})

void t.test('the model is shown the frameworks that the files speak of', async (t) => {
  const { analyse, provider, clock } = await startAnalysis(t)
  const shown = async (files: Record<string, string>, package_json?: Record<string, unknown>) => {
    clock.advance(3_600_000)
    await analyse(files, package_json && { package_json })
    const { system = '' } = provider.asked.at(-1) ?? {}
    return [...system.matchAll(/^--- (\w+), as/gm)].map(([, name]) => name)
  }
  t.strictSame(await shown({ 'a.py': 'from flask import Flask\n' }), ['flask'])
  t.strictSame(await shown({ 'a.py': 'import django\nfrom fastapi import x\nimport fastapi\n' }), [
    'fastapi',
    'django',
  ])
  t.strictSame(await shown({ 'main.go': 'package main\n' }), ['go'])
  t.strictSame(await shown({ 'A.java': 'import org.springframework.x;\n' }), ['spring'])
  t.strictSame(await shown({ 'config.ru': 'Rails.application\n' }), ['rails'])
  t.strictSame(await shown({ 'Program.cs': 'WebApplication.CreateBuilder()\n' }), ['aspnet'])
  t.strictSame(await shown({ 'a.php': 'use Illuminate\\Http;\n' }), ['laravel'])
  t.strictSame(
    await shown({
      'a.ts': "import { NestFactory } from '@nestjs/core'\nimport express from 'express'\n",
    }),
    ['nest', 'express'],
  )
  t.strictSame(await shown({ 'a.js': 'x' }, { dependencies: { koa: '1' } }), ['koa'])
  t.strictSame(await shown({ 'a.js': 'createServer(x)\n' }), ['node'])
  t.strictSame(await shown({ 'a.txt': 'express\n' }), [])
})
