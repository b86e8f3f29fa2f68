/** One spelling for one idea in all lines of the log: `tenant_id`, `request_id`, `error`. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from '@babel/parser'
import type { CallExpression, Node, OptionalCallExpression } from '@babel/types'
import t from 'tap'
import { nodesOf } from '../../control-plane/downloads/analyzer/syntax/walk.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const LEVELS = ['info', 'warn', 'error', 'fatal', 'debug']
const LOGS = /(?:^|\.)(?:log|logger|warnings)$/

/** Spelled otherwise, or too short to be found. */
const isWrong = (name: string) =>
  !/^[a-z][a-z0-9_]*$/.test(name) || ['err', 'tenant', 'request', 'id'].includes(name)

/** What has none of these is not read any further: most files log nothing. */
const MAY_LOG = new RegExp(`\\.\\s*(?:${LEVELS.join('|')})\\s*\\(`)

function wrongFields(name: string, text: string): string[] {
  if (!MAY_LOG.test(text)) return []
  const file = parse(text, { sourceType: 'module', plugins: ['typescript'] })
  const walked = nodesOf(file)
  if (walked === null) throw new Error(`${name} cannot be walked`)
  const found = walked.nodes.flatMap((node) => (isCall(node) ? fieldsOf(node, text) : []))
  return found.filter(isWrong).map((field) => `${name}: ${field}`)
}

type Call = CallExpression | OptionalCallExpression
const isCall = (node: Node): node is Call => /^(?:Optional)?CallExpression$/.test(node.type)

function fieldsOf({ callee, arguments: [fields] }: Call, text: string): string[] {
  const isMember = callee.type === 'MemberExpression' || callee.type === 'OptionalMemberExpression'
  if (!isMember || fields?.type !== 'ObjectExpression') return []
  const textOf = (node: Node) => text.slice(node.start ?? 0, node.end ?? 0)
  if (!LEVELS.includes(textOf(callee.property)) || !LOGS.test(textOf(callee.object))) return []
  return fields.properties.flatMap((field) =>
    field.type === 'SpreadElement' ? [] : [field.computed ? textOf(field) : textOf(field.key)],
  )
}

t.test('fields of the log are spelled in one way', async (t) => {
  const files = globSync('{shared,gateway,control-plane}/**/*.ts', { cwd: ROOT }).sort()
  const wrong = files.flatMap((file) => wrongFields(file, readFileSync(`${ROOT}${file}`, 'utf8')))
  t.strictSame(wrong, [])
})

t.test('another spelling would be found', async (t) => {
  const text = "world.log.warn({ tenantId, err: error, gateway_id: 'a', tenant: 'b' }, 'told')"
  t.strictSame(wrongFields('a.ts', text), ['a.ts: tenantId', 'a.ts: err', 'a.ts: tenant'])
  t.strictSame(wrongFields('a.ts', 'log?.info({ id }, "told")'), ['a.ts: id'])
})
