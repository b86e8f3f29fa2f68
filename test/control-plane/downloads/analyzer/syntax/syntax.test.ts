/** What the syntax of a stranger's file tells, and that no file takes more than its share. */
import t from 'tap'
import { exportsOf } from '../../../../../control-plane/downloads/analyzer/syntax/exports.ts'
import { importsOf } from '../../../../../control-plane/downloads/analyzer/syntax/imports.ts'
import {
  parseSource,
  type PackageType,
  type Source,
} from '../../../../../control-plane/downloads/analyzer/syntax/parse.ts'
import { lineAt, placeOf } from '../../../../../control-plane/downloads/analyzer/syntax/places.ts'
import { referenceOf } from '../../../../../control-plane/downloads/analyzer/syntax/references.ts'
import { LIMITS } from '../../../../../shared/limits.ts'

function sourceOf(text: string, path = 'app.js', type?: PackageType): Source {
  const parsed = parseSource(path, text, type)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.source
}

/** What is called in the file, by module and members: `express.Router`. */
function called(text: string, path?: string): string[] {
  const source = sourceOf(text, path)
  return source.nodes.flatMap((node) => {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return []
    const reference = referenceOf(source, node.callee)
    return reference === null ? [] : [[reference.module, ...reference.members].join('.')]
  })
}

t.test('a name leads to its module, however it was imported', async (t) => {
  for (const [text, path] of [
    [`import express from 'express'; express()`],
    [`import * as express from 'express'; express()`],
    [`import { default as e } from 'express'; e()`],
    [`import express = require('express'); express()`, 'app.ts'],
    [`const express = require('express'); express()`],
    [`require('express')()`],
    [`var e = require('express'), make = e; make()`],
    [`const { default: e } = await import('express'); e()`],
    [`const e = (await import('express')).default; e()`],
    [`const express_1 = __importDefault(require("express")); (0, express_1.default)()`],
    [`var e = _interopRequireDefault(require('express')); (0, e.default)()`],
    [`const tslib_1 = {}; const e = tslib_1.__importDefault(require('express')); e.default()`],
    [
      `import { createRequire } from 'module'
      const require = createRequire(import.meta.url); require('express')()`,
    ],
  ] as const)
    t.ok(called(text, path).includes('express'), text)
  t.strictSame(called(`const { Router: R } = require('express'); R()`), ['express.Router'])
  t.strictSame(called(`import e from 'express'; e.Router()`), ['express.Router'])
  t.strictSame(called(`import e from 'express'; e['Router']()`), ['express.Router'])
})

t.test('a name of an inner scope is not the one of the module', async (t) => {
  t.strictSame(called(`import e from 'express'; function f(e) { e() }`), [])
  t.strictSame(called(`import e from 'express'; { const e = () => 1; e() }`), [])
  t.strictSame(called(`function require() {}; require('express')()`), [])
  t.strictSame(called(`{ var e = require('express') } e()`).at(-1), 'express', 'var is hoisted')
  t.strictSame(called(`let e = require('koa'); e = require('express'); e()`), [], 'one of two')
  t.strictSame(called(`const a = b; const b = a; a()`), [], 'and a circle ends')
})

t.test('imports come with their form, names and place', async (t) => {
  const source = sourceOf(
    [
      `import a, { b as c, type D } from 'one'`,
      `import * as e from 'two'`,
      `import 'three'`,
      `import type { F } from 'four'`,
      `const { g: h } = require('five')`,
      `const i = (await import(\`six\`)).j`,
      `export * from 'seven'`,
    ].join('\n'),
    'app.ts',
  )
  t.strictSame(
    importsOf(source).map(({ module, form, imported, local, isTypeOnly, node }) =>
      [module, form, imported, local, isTypeOnly, placeOf(source, node).line].join(' '),
    ),
    [
      'one import default a false 1',
      'one import b c false 1',
      'one import D D true 1',
      'two import * e false 2',
      'three import   false 3',
      'four import F F true 4',
      'five require g h false 5',
      'six dynamic j i false 6',
      'seven export   false 7',
    ],
  )
})

t.test('exports of both kinds of modules have names and values', async (t) => {
  const namesOf = (text: string) => exportsOf(sourceOf(text)).map(({ name }) => name)
  t.strictSame(namesOf(`export const app = 1, b = 2; export default app`), ['app', 'b', 'default'])
  t.strictSame(namesOf(`const a = 1; export { a as b }; export * from './c'`), ['b', '*'])
  t.strictSame(namesOf(`var app = module.exports = make()`), ['='])
  t.strictSame(namesOf(`exports.app = 1; module.exports.b = 2`), ['app', 'b'])
  t.strictSame(namesOf(`module.exports = { app, make() {} }`), ['=', 'app', 'make'])
  t.strictSame(namesOf(`function f(module) { module.exports = 1 }`), [])
})

t.test('a binding tells every value that it is given', async (t) => {
  const source = sourceOf(`let app; app = one(); if (x) { app = two() } app.listen()`)
  const values = source.bindings.top.get('app')?.values ?? []
  t.strictSame(
    values.map(({ expression }) => source.text.slice(expression.start ?? 0, expression.end ?? 0)),
    ['one()', 'two()'],
  )
})

t.test('how a file imports is told by its syntax first, then by its package', async (t) => {
  const modules = (text: string, path?: string, type?: PackageType) =>
    sourceOf(text, path, type).modules
  t.equal(modules(`import 'a'`), 'esm')
  t.equal(modules(`require('a')`), 'commonjs')
  t.equal(modules(`1`), 'commonjs')
  t.equal(modules(`1`, 'a.js', 'module'), 'esm')
  t.equal(modules(`require('a')`, 'a.ts', 'module'), 'commonjs')
  t.equal(modules(`1`, 'a.mjs'), 'esm')
})

t.test('what real files contain is understood', async (t) => {
  for (const [path, text] of [
    ['a.js', '#!/usr/bin/env node\nrequire("x")'],
    ['a.js', 'with (a) { b }; var c = 010'],
    ['a.js', 'return'],
    ['a.js', '// @flow\nconst a: number = 1'],
    ['a.js', 'const a = <b>c</b>'],
    ['a.ts', 'const a = <string>b; enum C { D }'],
    ['a.ts', '@Module({}) class A { constructor(@Inject() private b: C) {} }'],
    ['a.tsx', 'const a = <b>{c as string}</b>'],
    ['a.mts', 'await import("x")'],
    ['a.cts', 'import a = require("x"); export = a'],
  ] as const)
    t.notOk('problem' in parseSource(path, text), text)
})

t.test('lines are counted as editors count them', async (t) => {
  const text = 'a\r\nb\n\nc'
  t.strictSame(
    [0, 3, 4, 5, 6].map((offset) => lineAt(text, offset)),
    [1, 2, 2, 3, 4],
  )
})

t.test('a hostile file is a problem in words, never an exception', async (t) => {
  const problem = (text: string) => {
    const parsed = parseSource('a.js', text)
    return 'problem' in parsed ? parsed.problem : 'parsed'
  }
  t.match(problem('const = 1'), /^cannot be parsed: .+\(1:6\)/)
  t.match(problem('('.repeat(200_000)), /nested too deeply/)
  t.match(problem('x=>'.repeat(50_000) + '1'), /nested too deeply/)
  const chain = LIMITS.analyzerSourceDepthMax
  t.match(problem('a+'.repeat(chain) + 'a'), /nested too deeply/, 'deep to the left')
  t.equal(problem('a+'.repeat(chain / 2) + 'a'), 'parsed')
  const longest = LIMITS.analyzerSourceCharactersMax
  t.equal(problem(`//${'x'.repeat(longest - 2)}`), 'parsed')
  t.match(problem(`//${'x'.repeat(longest - 1)}`), /longer than/)
  t.match(problem('0,'.repeat(LIMITS.analyzerSourceNodesMax) + '0'), /too large/)
  t.equal(
    problem('({ __proto__: a, constructor: b }); var __proto__, toString; toString()'),
    'parsed',
  )
})
