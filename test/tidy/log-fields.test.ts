/** One spelling for one idea in all lines of the log: `tenant_id`, `request_id`, `error`. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const LEVELS = ['info', 'warn', 'error', 'fatal', 'debug']
const LOGS = /(?:^|\.)(?:log|logger|warnings)$/

/** Spelled otherwise, or too short to be found. */
const isWrong = (name: string) =>
  !/^[a-z][a-z0-9_]*$/.test(name) || ['err', 'tenant', 'request', 'id'].includes(name)

function wrongFields(name: string, text: string): string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const lookAt = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) found.push(...fieldsOf(node).filter(isWrong))
    ts.forEachChild(node, lookAt)
  }
  lookAt(file)
  return found.map((field) => `${name}: ${field}`)
}

function fieldsOf({ expression, arguments: [fields] }: ts.CallExpression): string[] {
  if (!ts.isPropertyAccessExpression(expression) || fields === undefined) return []
  const isLog = LEVELS.includes(expression.name.text) && LOGS.test(expression.expression.getText())
  if (!isLog || !ts.isObjectLiteralExpression(fields)) return []
  return fields.properties.flatMap(({ name }) => (name === undefined ? [] : [name.getText()]))
}

t.test('fields of the log are spelled in one way', async (t) => {
  const files = globSync('{shared,gateway,control-plane}/**/*.ts', { cwd: ROOT }).sort()
  const wrong = files.flatMap((file) => wrongFields(file, readFileSync(`${ROOT}${file}`, 'utf8')))
  t.strictSame(wrong, [])
})

t.test('another spelling would be found', async (t) => {
  const text = "world.log.warn({ tenantId, err: error, gateway_id: 'a', tenant: 'b' }, 'told')"
  t.strictSame(wrongFields('a.ts', text), ['a.ts: tenantId', 'a.ts: err', 'a.ts: tenant'])
})
