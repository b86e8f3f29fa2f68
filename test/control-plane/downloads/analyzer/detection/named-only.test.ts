/** What is recognised although nothing is edited for it, and shapes of other languages. */
import t from 'tap'
import { detect } from '../../../../../control-plane/downloads/analyzer/detection/detect.ts'
import { projectWith } from './project-with.ts'

const HONO = `import { Hono } from 'hono'\nconst app = new Hono()\nexport default app\n`
const PACKAGE = JSON.stringify({
  type: 'module',
  main: 'src/index.js',
  dependencies: { hono: '4' },
})

t.test('Symfony and Phoenix are named', async (t) => {
  const { applications, remarks } = await detect(
    projectWith({
      'composer.json': '{ "require": { "symfony/framework-bundle": "^7" } }',
      'live/mix.exs': 'defp deps do [{:phoenix, "~> 1.8"}] end',
      'mix.lock': '"phoenix"',
    }),
  )
  t.strictSame(applications, [])
  t.equal(remarks.length, 2)
  t.match(remarks, [/^composer\.json .* Symfony\./, /^live\/mix\.exs .* Phoenix\./])
})

t.test('a Worker and an application on Deno are no applications on Node', async (t) => {
  const worker = await detect(
    projectWith({
      'package.json': PACKAGE,
      'wrangler.toml': 'main = "src/index.js"',
      'src/index.js': HONO,
    }),
  )
  t.strictSame(worker.applications, [])
  t.match(worker.remarks, [/^src\/index\.js \(hono\) runs on Cloudflare Workers/])
  const served = `import { serve } from '@hono/node-server'\n${HONO}serve({ fetch: app.fetch, port: 3000 })\n`
  const both = await detect(
    projectWith({ 'package.json': PACKAGE, 'wrangler.toml': '', 'src/index.js': served }),
  )
  t.match(both.applications, [{ framework: 'hono', port: 3000 }], 'one that listens is')
  const deno = await detect(
    projectWith({
      'deno.json': '{ "imports": { "express": "npm:express@5" } }',
      'main.ts': `import express from 'express'\nconst app = express()\napp.listen(8000)\n`,
    }),
  )
  t.strictSame(deno.applications, [])
  t.match(deno.remarks, [/^main\.ts \(express\) runs on Deno/])
})

t.test('a class of Flask’s is one wherever it is called', async (t) => {
  const { applications } = await detect(
    projectWith({
      'requirements.txt': 'flask',
      'shop/app.py':
        'from flask import Flask\nclass Shop(Flask):\n    pass\n\ndef create_app():\n    app = Shop(__name__)\n    return app\n',
      'serve.py': 'from shop.app import create_app\napp = create_app()\napp.run()\n',
    }),
  )
  t.match(applications, [{ framework: 'flask', mount: { path: 'shop/app.py', line: 6 } }])
})

t.test(
  'PocketBase is a Go program that serves, and its middleware is a matter for people',
  async (t) => {
    const { applications } = await detect(
      projectWith({
        'go.mod': 'module x\nrequire github.com/pocketbase/pocketbase v0.30.0\n',
        'main.go':
          'package main\nimport "github.com/pocketbase/pocketbase"\nfunc main() {\n\tapp := pocketbase.New()\n\tif err := app.Start(); err != nil {\n\t\tpanic(err)\n\t}\n}\n',
      }),
    )
    t.match(applications, [
      { framework: 'go', variant: 'pocketbase', port: 8090, confidence: 'guess' },
    ])
  },
)
