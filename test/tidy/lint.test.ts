/** Each rule that the code is read by has something here that breaks it, and is heard. */
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const OFFENDERS: Readonly<Record<string, string>> = {
  'no-array-constructor': `export const all = new Array(1, 2)`,
  'no-unused-expressions': `export const one = (two: number) => { two + 1 }`,
  'no-unused-vars': `export function sum(a: number, b: number) { return a }`,
  'no-var': `export var one = 1`,
  'prefer-const': `let one = 1\nexport const two = one + one`,
  'prefer-rest-params': `export function count() { return arguments.length > 0 ? arguments[0] : 0 }`,
  'prefer-spread': `export const most = (all: number[]) => Math.max.apply(Math, all)`,
  'typescript/await-thenable': `export const one = await 1`,
  'typescript/ban-ts-comment': `// @ts-ignore\nexport const one: string = 1`,
  'typescript/consistent-type-imports': `import { Other } from './other.ts'\nexport const one = (other: Other) => other.name`,
  'typescript/no-array-delete': `export const drop = (all: number[]) => { delete all[0] }`,
  'typescript/no-base-to-string': `export const text = (one: { a: 1 }) => String(one)`,
  'typescript/no-duplicate-enum-values': `export enum One { A = 1, B = 1 }`,
  'typescript/no-duplicate-type-constituents': `export type One = 'a' | 'a'`,
  'typescript/no-empty-object-type': `export type One = {}`,
  'typescript/no-explicit-any': `export const one = (two: any): unknown => two`,
  'typescript/no-extra-non-null-assertion': `export const one = (two: { a: 1 } | null) => two!!.a`,
  'typescript/no-floating-promises': `async function run() {}\nexport const one = () => { run() }`,
  'typescript/no-for-in-array': `export const one = (all: number[]) => { for (const at in all) throw new Error(at) }`,
  'typescript/no-implied-eval': `export const one = () => new Function('return 1')`,
  'typescript/no-misused-new': `export interface One { new (): One }`,
  'typescript/no-misused-promises': `export const one = (all: number[]) => { all.forEach(async () => {}) }`,
  'typescript/no-namespace': `export namespace One { export const two = 2 }`,
  'typescript/no-non-null-asserted-optional-chain': `export const one = (two?: { a: 1 }) => two?.a!`,
  'typescript/no-redundant-type-constituents': `export type One = string | 'a'`,
  'typescript/no-require-imports': `import other = require('./other.ts')\nexport const one = other`,
  'typescript/no-this-alias': `export class One { two() { const me = this; return me } }`,
  'typescript/no-unnecessary-type-assertion': `export const one = (two: string) => two as string`,
  'typescript/no-unnecessary-type-constraint': `export const one = <T extends unknown>(two: T) => two`,
  'typescript/no-unsafe-argument': `export const one = () => Number.isNaN(Number(parseFloat(JSON.parse('1'))))`,
  'typescript/no-unsafe-assignment': `export const one = () => { const two = JSON.parse('1'); return String(two) }`,
  'typescript/no-unsafe-call': `export const one = () => { JSON.parse('1')() }`,
  'typescript/no-unsafe-declaration-merging': `export interface One { a: 1 }\nexport class One {}`,
  'typescript/no-unsafe-enum-comparison': `enum Two { A = 1 }\nexport const one = (two: Two) => two === 1`,
  'typescript/no-unsafe-function-type': `export const one = (two: Function) => two.name`,
  'typescript/no-unsafe-member-access': `export const one = () => { JSON.parse('1').two = 1 }`,
  'typescript/no-unsafe-return': `export const one = () => JSON.parse('1')`,
  'typescript/no-unsafe-unary-minus': `export const one = (two: string) => -two`,
  'typescript/no-wrapper-object-types': `export type One = String`,
  'typescript/only-throw-error': `export const one = () => { throw 'two' }`,
  'typescript/prefer-as-const': `export const one: 'a' = 'a'`,
  'typescript/prefer-namespace-keyword': `declare module One { const two: number }\nexport type Two = typeof One.two`,
  'typescript/prefer-promise-reject-errors': `export const one = () => Promise.reject('two')`,
  'typescript/restrict-plus-operands': `export const one = (two: number, three: string) => two + three + {}`,
  'typescript/restrict-template-expressions': `export const one = (two: { a: 1 }) => \`\${two}\``,
  'typescript/switch-exhaustiveness-check': `export const one = (two: 'a' | 'b') => { switch (two) { case 'a': return 1 } return 2 }`,
  'typescript/triple-slash-reference': `/// <reference path="./other.ts" />\nexport const one = 1`,
}

interface Found {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[]
}

/** Without the loaders that this test itself may have been started with. */
const run = (program: string, args: readonly string[]) =>
  promisify(execFile)(
    '/bin/sh',
    [
      '-c',
      'unset NODE_OPTIONS; exec "$0" "$@"',
      process.execPath,
      `${ROOT}node_modules/.bin/${program}`,
      ...args,
    ],
    { cwd: ROOT },
  )
const config = readFileSync(`${ROOT}.oxlintrc.json`, 'utf8')
const { compilerOptions } = JSON.parse(readFileSync(`${ROOT}tsconfig.json`, 'utf8')) as {
  compilerOptions: object
}

/** What is heard of each file in a folder of strangers, by our rules. */
async function heardOf(t: Test, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const options = { ...compilerOptions, types: [], incremental: false }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), `${text}\n`)
  const args = ['-c', `${ROOT}.oxlintrc.json`, '-f', 'json', folder]
  const said = await run('oxlint', args).catch((error: { stdout: string }) => error)
  const { diagnostics } = JSON.parse(said.stdout) as Found
  const heard = new Map<string, string[]>()
  for (const { code, filename } of diagnostics) {
    const name = basename(filename)
    heard.set(name, [...(heard.get(name) ?? []), code])
  }
  return heard
}

const fileOf = (rule: string) => `${rule.replace('/', '.')}.ts`

t.test('what breaks a rule is heard, by its name', async (t) => {
  const offenders = Object.entries(OFFENDERS).map(([rule, text]) => [fileOf(rule), text] as const)
  const heard = await heardOf(t, {
    'other.ts': `export class Other { readonly name = 'a' }`,
    ...Object.fromEntries(offenders),
  })
  for (const rule of Object.keys(OFFENDERS)) {
    const [plugin, name] = rule.includes('/') ? rule.split('/') : ['eslint', rule]
    t.ok(heard.get(fileOf(rule))?.includes(`${plugin}(${name})`), rule)
  }
  t.notOk(heard.has('other.ts'), 'and nothing of what is right')
})

t.test('types are worked out beside it, also for what runs in browsers', async (t) => {
  const heard = await heardOf(t, { 'wrong.ts': `export const one: string = 1` })
  t.same(heard.get('wrong.ts'), ['typescript(TS2322)'])
  const browser = 'control-plane/console/browser'
  const { stdout } = await run('tsc', ['-p', browser, '--listFilesOnly'])
  for (const file of globSync(`${browser}/*.ts`, { cwd: ROOT })) t.match(stdout, file)
})

t.test('each rule that is asked for has its offender', async (t) => {
  const [, named = ''] = /^ {2}"rules": \{$(.*?)^ {2}\}/ms.exec(config) ?? []
  const rules = [...named.matchAll(/^ {4}"([\w/-]+)":/gm)].map(([, rule]) => rule)
  t.same(rules.sort(), Object.keys(OFFENDERS).sort())
})
